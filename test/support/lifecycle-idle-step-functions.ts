import { SFNClient } from '@aws-sdk/client-sfn';
import { localCredentials, local } from '../../local/machine/environment.ts';
import { startStepFunctions } from '../../local/step-functions/step-functions.ts';
import type { Executions } from '../../shared/runs/executions.ts';

/** Starts a Step Functions API whose executions only wait for a day, so that tests measure or model the caller only. */
export async function startIdleStepFunctions(): Promise<{ executions: Executions; endpoint: string; stop: () => Promise<void> }> {
  const { stateMachineArn } = local;
  const server = await startStepFunctions({
    definition: { StartAt: 'Wait', States: { Wait: { Type: 'Wait', Seconds: 24 * 60 * 60, End: true } } },
    stateMachineArn,
    invoke: () => Promise.reject(new Error('It has no tasks.')),
    onStatusChange: () => undefined,
  });
  const client = new SFNClient({ region: 'local', credentials: localCredentials, endpoint: server.endpoint });
  return {
    executions: { client, stateMachineArn },
    endpoint: server.endpoint,
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
}
