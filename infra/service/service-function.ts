import { Duration, Stack, Token } from 'aws-cdk-lib';
import { ApplicationLogLevel, SystemLogLevel, type Code, type Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Uses } from '../../shared/runtime/uses.ts';
import { acknowledge, shownPartition } from '../house/acknowledge.ts';
import { type FunctionName, variablesOf, type DeployedVariable } from './functions.ts';
import { loggedFunction } from '../house/logged-function.ts';
import { metricsNamespace, nameIn, type Issuer, type Stage } from '../stages/stage.ts';
import { serviceVersion } from '../../shared/runtime/service-version.ts';
import { permissionsFor, type Resources } from '../house/permissions.ts';

/** Returns the code of a function of the service: its bundle, or a placeholder if only the template matters. */
export type CodeOf = (name: FunctionName) => Code;

export interface ServiceFunctionProps {
  stage: Stage;
  issuer: Issuer;
  resources: Resources;
  codeOf: CodeOf;
  uses: Uses;
  timeout: Duration;
  /** The memory of the function in MB. Default: 512. */
  memoryInMegabytes?: number;
  /**
   * The executions that only the function can use, which are also the most that it can have. Default: the function shares the
   * executions of the account.
   */
  reservedConcurrency?: number | undefined;
  /**
   * True for a function that a schedule calls. A call that fails or comes too early is dropped, because the next call does its
   * work. Default: false.
   */
  isScheduled?: boolean;
  /** The queue of events for which the function, called asynchronously, has failed in all attempts. Default: none. */
  deadLetterQueue?: IQueue;
}

const usualMemoryInMegabytes = 512;

/** Settings with which Lambda drops a failed call of a function, instead of repeating it. Nobody waits for the call. */
const onlyNow = { retryAttempts: 0, maxEventAge: Duration.seconds(60) };

/**
 * A Lambda function of the service with its own role, log and traces. Its permissions and environment contain only what follows
 * from `uses`. Functions that a schedule calls have no traces, because Lambda would trace each of their calls.
 */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, name: FunctionName, props: ServiceFunctionProps) {
    super(scope, name.replace('/', '-'));
    const { stage, deadLetterQueue, reservedConcurrency, isScheduled, memoryInMegabytes = usualMemoryInMegabytes } = props;
    this.lambda = loggedFunction(this, {
      stage,
      name,
      description: name,
      code: props.codeOf(name),
      memorySize: memoryInMegabytes,
      timeout: props.timeout,
      environment: environmentOf(name, props),
      may: permissionsFor(props.uses, props.resources),
      isTraced: !isScheduled,
      applicationLogLevelV2: stage.logLevel === 'DEBUG' ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.INFO,
      ...(reservedConcurrency === undefined ? {} : { reservedConcurrentExecutions: reservedConcurrency }),
      ...(isScheduled ? onlyNow : {}),
      ...(deadLetterQueue ? { deadLetterQueue } : {}),
    });
    this.acknowledgeWildcards(props);
    if (isScheduled) {
      const reason = 'The next call of the schedule does its work.';
      acknowledge(this.lambda, 'Serverless-LambdaDLQ', reason);
      acknowledge(this.lambda, 'Serverless-LambdaAsyncFailureDestination', reason);
      acknowledge(this.lambda, 'Serverless-LambdaTracing', 'Lambda would trace every call. Its log has what it did.');
    } else if (!deadLetterQueue)
      acknowledge(this.lambda, 'Serverless-LambdaDLQ', 'Its caller waits for the response and handles failures.');
  }

  private acknowledgeWildcards({ stage, resources: { contentArn }, uses }: ServiceFunctionProps): void {
    const accept = (resource: string, reason: string) => acknowledge(this, `AwsSolutions-IAM5[Resource::${resource}]`, reason);
    if (uses.content) {
      const bucket = Token.isUnresolved(contentArn) ? nameIn(stage, 'content-arn') : contentArn;
      accept(`${bucket}/content/*`, 'Any object under content/, nothing else.');
    }
    if (uses.stateMachine?.includes('DescribeExecution')) {
      const account = Token.isUnresolved(Stack.of(this).account) ? '<AWS::AccountId>' : Stack.of(this).account;
      const executions = `arn:${shownPartition(this)}:states:${stage.region}:${account}:execution:${nameIn(stage, 'run-lifecycle')}:*`;
      accept(executions, 'Any execution of this state machine, because each run has its own.');
    }
  }
}

function environmentOf(name: FunctionName, { stage, issuer, resources }: ServiceFunctionProps): Record<string, string> {
  const values: Record<DeployedVariable, string> = {
    STAGE: stage.name,
    SERVICE_VERSION: serviceVersion(),
    LOG_LEVEL: stage.logLevel,
    METRICS_NAMESPACE: metricsNamespace,
    TABLE_NAME: resources.tableName,
    BUCKET_NAME: resources.bucketName,
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
    WAITS_PER_STAGE: String(stage.waits.perStage),
    WAITS_PER_DOMAIN: String(stage.waits.perDomain),
  };
  return Object.fromEntries(variablesOf(name).map((variable) => [variable, values[variable]]));
}
