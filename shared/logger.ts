import { Logger } from '@aws-lambda-powertools/logger';
import { environment } from './environment.ts';

let known: Logger | undefined;

/** The function's structured log, made at its first use. It never gets request bodies or `agent_config`. */
export function logger(): Logger {
  known ??= new Logger({ serviceName: 'computation-management', persistentLogAttributes: { stage: environment().STAGE } });
  return known;
}
