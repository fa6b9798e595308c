import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { tasks, type TaskName, type Task } from '../../shared/tasks/tasks.ts';
import type { VariableName } from '../../shared/runtime/environment.ts';
import { isLimited, type Route } from '../../shared/http/route.ts';

/** The name of a function: its file in functions/ without the extension, such as `runs/start-run`. */
export type FunctionName = RouteName | TaskName;

/** The names of all functions of the service, without duplicates. */
export const functionNames: readonly FunctionName[] = [...new Set([...routes, ...tasks].map(({ name }) => name))];

/**
 * The name of an environment variable that a deployment sets for functions. Excluded are the region, which Lambda sets itself,
 * and the variables of the gateway and the canary.
 */
export type DeployedVariable = Exclude<
  VariableName,
  | 'AWS_REGION'
  | 'CANARY'
  | `GATEWAY_${string}`
  | 'DRAIN_HOURS'
  | 'BALANCER_URL'
  | 'TARGET_GROUP_ARN'
  | `ECS_${string}`
  | 'AUTHORITY_KEY_ARN'
  | 'TLS_SECRET_ARN'
>;

/** The functions that return the version of the service, or a signed statement that contains the version. */
const returningVersion: readonly FunctionName[] = ['service/health', 'service/openapi', 'evidence/get-evidence'];

export function variablesOf(name: FunctionName): DeployedVariable[] {
  const task = (tasks as readonly Task[]).find((row) => row.name === name);
  const route = (routes as readonly Route[]).find((row) => row.name === name);
  const uses = task?.uses ?? route?.uses ?? {};
  const variables: DeployedVariable[] = ['STAGE', 'LOG_LEVEL', 'METRICS_NAMESPACE'];
  if (returningVersion.includes(name)) variables.push('SERVICE_VERSION');
  if (uses.table) variables.push('TABLE_NAME');
  if (uses.content) variables.push('BUCKET_NAME');
  if (uses.stateMachine) variables.push('STATE_MACHINE_ARN');
  if (uses.signingKey) variables.push('SIGNING_KEY_ARN');
  if (uses.sealingKey) variables.push('SEALING_KEY_ARN');
  if (uses.publishedKeys) variables.push('PUBLISHED_KEY_ARNS');
  if (uses.purge) variables.push('PURGE_URL');
  if (route?.access) variables.push('MEMBERSHIP_CLAIM');
  if (isLimited(name, routes)) variables.push('DOMAIN_CHANGES_PER_SECOND', 'DOMAIN_BURST');
  if (route?.waits) variables.push('WAITS_PER_STAGE', 'WAITS_PER_DOMAIN');
  return [...variables, ...(task?.times ?? [])];
}
