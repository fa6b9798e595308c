import { setNotificationsRoute } from '../../shared/endpoints/notifications.ts';
import { decideResultRoute } from '../../shared/endpoints/results.ts';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { tasks, type TaskName, type Task } from '../../shared/tasks/tasks.ts';
import type { VariableName } from '../../shared/runtime/environment.ts';
import { isLimited, type Route } from '../../shared/http/route.ts';
import { Duration } from 'aws-cdk-lib';
import { ApplicationLogLevel, SystemLogLevel, type Code, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Uses } from '../../shared/runtime/uses.ts';
import { acknowledge, shown, shownArn, loggedFunction, permissionsFor, type Resources } from '../house.ts';
import { metricsNamespace, nameIn, type Issuer, type Stage } from '../stages/stage.ts';
import { reservedFor } from './reserved-concurrency.ts';
import { serviceVersion } from '../../shared/runtime/service-version.ts';

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
const returningVersion: readonly FunctionName[] = [
  'service/health',
  'service/openapi',
  'evidence/get-evidence',
  'results/get-result',
];

export function variablesOf(name: FunctionName): DeployedVariable[] {
  const task = (tasks as readonly Task[]).find((row) => row.name === name);
  const route = (routes as readonly Route[]).find((row) => row.name === name);
  const uses = task?.uses ?? route?.uses ?? {};
  const variables: DeployedVariable[] = ['STAGE', 'LOG_LEVEL', 'METRICS_NAMESPACE'];
  if (returningVersion.includes(name)) variables.push('SERVICE_VERSION');
  if (uses.table) variables.push('TABLE_NAME');
  if (uses.content) variables.push('BUCKET_NAME');
  if (uses.log) variables.push('LOG_BUCKET_NAME');
  if (uses.logKey) variables.push('LOG_KEY_ARN');
  if (uses.log?.includes('PutObject')) variables.push('LOG_WITNESSES');
  if (uses.stateMachine) variables.push('STATE_MACHINE_ARN');
  if (uses.signingKey) variables.push('SIGNING_KEY_ARN');
  if (uses.sealingKey) variables.push('SEALING_KEY_ARN');
  if (uses.publishedKeys) variables.push('PUBLISHED_KEY_ARNS');
  if (uses.purge) variables.push('PURGE_URL');
  if (uses.mail) variables.push('MAIL');
  if (name === setNotificationsRoute.name) variables.push('ISSUER_URL');
  if (route?.access) variables.push('MEMBERSHIP_CLAIM');
  if (isLimited(name, routes)) variables.push('DOMAIN_CHANGES_PER_SECOND', 'DOMAIN_BURST');
  if (name === decideResultRoute.name) variables.push('RESULT_DAYS');
  if (route?.waits) variables.push('WAITS_PER_STAGE', 'WAITS_PER_DOMAIN');
  return [...variables, ...(task?.times ?? [])];
}

/** The settings that all functions of a stage have in common. */
export interface CommonProps {
  stage: Stage;
  issuer: Issuer;
  resources: Resources;
  /** Returns the code of a function: its bundle, or a placeholder if only the template matters. */
  codeOf: (name: FunctionName) => Code;
}

/** A row of the route table or of the task table. */
type Row = (Route | Task) & { name: FunctionName };

/**
 * The time limit of the functions of endpoints: less than the 30 seconds after which API Gateway times out, and more than the
 * longest wait with the 5 seconds of work before and after it.
 */
const timeoutOfEndpointsInSeconds = 29;

const usualMemoryInMegabytes = 512;

/**
 * The memory in MB of the functions that hold requests until something changes. Such a function costs money in proportion to its
 * memory while it waits.
 */
const memoryOfWaitsInMegabytes = 256;

/** Settings with which Lambda drops a failed call of a function, instead of repeating it. Nobody waits for the call. */
const onlyNow = { retryAttempts: 0, maxEventAge: Duration.seconds(60) };

/**
 * A Lambda function of the service with its own role, log and traces. Its permissions and environment contain only what follows
 * from `uses`. Functions that a schedule calls have no traces, because Lambda would trace each of their calls.
 */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  /** @param undelivered the queue of events for which the function, called by one, has failed in all attempts */
  constructor(scope: Construct, row: Row, props: CommonProps, undelivered?: IQueue) {
    const { name, uses } = row;
    super(scope, name.replace('/', '-'));
    const { stage } = props;
    const trigger = 'trigger' in row ? row.trigger : undefined;
    const isScheduled = typeof trigger === 'object'; // the next call does the work of one that fails or comes too early
    const isOfEvent = trigger === 'execution status' || trigger === 'upload' || trigger === 'token';
    const reservedConcurrency = reservedFor(row, stage);
    this.lambda = loggedFunction(this, {
      stage,
      name,
      description: name,
      code: props.codeOf(name),
      memorySize: 'waits' in row ? memoryOfWaitsInMegabytes : usualMemoryInMegabytes,
      timeout: Duration.seconds('trigger' in row ? row.timeoutInSeconds : timeoutOfEndpointsInSeconds),
      environment: environmentOf(name, props),
      may: permissionsFor(uses, props.resources),
      isTraced: !isScheduled,
      applicationLogLevelV2: stage.logLevel === 'DEBUG' ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.INFO,
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      ...(isScheduled ? onlyNow : {}),
      ...(isOfEvent && undelivered ? { deadLetterQueue: undelivered } : {}),
    });
    this.acknowledgeWildcards(uses, props);
    if (isScheduled) {
      const reason = 'The next call of the schedule does its work.';
      acknowledge(this.lambda, {
        'Serverless-LambdaDLQ': reason,
        'Serverless-LambdaAsyncFailureDestination': reason,
        'Serverless-LambdaTracing': 'Lambda would trace every call. Its log has what it did.',
      });
    } else if (!isOfEvent)
      acknowledge(this.lambda, { 'Serverless-LambdaDLQ': 'Its caller waits for the response and handles failures.' });
  }

  private acknowledgeWildcards(uses: Uses, { stage, resources: { contentArn, logArn } }: CommonProps): void {
    const accept = (resource: string, reason: string) =>
      acknowledge(this, { [`AwsSolutions-IAM5[Resource::${resource}]`]: reason });
    if (uses.content) {
      accept(`${shown(contentArn, nameIn(stage, 'content-arn'))}/content/*`, 'Any object under content/, nothing else.');
    }
    if (uses.log) accept(`${shown(logArn, nameIn(stage, 'log-arn'))}/*`, 'Any object of the log, which everybody may read.');
    if (uses.stateMachine?.includes('DescribeExecution')) {
      const executions = `${shownArn(this, 'states')}:execution:${nameIn(stage, 'run-lifecycle')}:*`;
      accept(executions, 'Any execution of this state machine, because each run has its own.');
    }
  }
}

function environmentOf(name: FunctionName, { stage, issuer, resources }: CommonProps): Record<string, string> {
  const values: Record<DeployedVariable, string> = {
    STAGE: stage.name,
    SERVICE_VERSION: serviceVersion(),
    LOG_LEVEL: stage.logLevel,
    METRICS_NAMESPACE: metricsNamespace,
    TABLE_NAME: resources.tableName,
    BUCKET_NAME: resources.bucketName,
    LOG_BUCKET_NAME: resources.logBucketName,
    LOG_KEY_ARN: resources.logKeyArn,
    LOG_WITNESSES: JSON.stringify(stage.witnesses ?? []),
    STATE_MACHINE_ARN: resources.stateMachineArn,
    SIGNING_KEY_ARN: resources.signingKeyArn,
    SEALING_KEY_ARN: resources.sealingKeyArn,
    PUBLISHED_KEY_ARNS: resources.publishedKeyArns.join(','),
    PURGE_URL: resources.purgeUrl,
    MEMBERSHIP_CLAIM: issuer.membershipClaim,
    DOMAIN_CHANGES_PER_SECOND: String(stage.domainLimit?.changesPerSecond ?? ''),
    DOMAIN_BURST: String(stage.domainLimit?.burst ?? ''),
    ACCEPT_TIMEOUT_SECONDS: String(stage.runTimes.acceptInSeconds),
    STOP_TIMEOUT_SECONDS: String(stage.runTimes.stopInSeconds),
    MAIL: resources.mailSettings,
    ISSUER_URL: issuer.url,
    RESULT_DAYS: String(stage.resultDays),
    WAITS_PER_STAGE: String(stage.waits.perStage),
    WAITS_PER_DOMAIN: String(stage.waits.perDomain),
  };
  return Object.fromEntries(variablesOf(name).map((variable) => [variable, values[variable]]));
}
