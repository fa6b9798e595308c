import { RemovalPolicy, type Duration } from 'aws-cdk-lib';
import {
  ApplicationLogLevel,
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  SystemLogLevel,
  Tracing,
  type Code,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { IQueue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import type { Uses } from '../../shared/uses.ts';
import { acknowledge } from '../acknowledge.ts';
import type { FunctionName } from '../bundles/function-names.ts';
import { metricsNamespace } from '../metrics-namespace.ts';
import { serviceVersion } from '../service-version.ts';
import { nameIn, type Issuer, type Stage } from '../stages.ts';
import { FunctionRole } from './function-role.ts';
import { variablesOf, type DeployedVariable } from './function-variables.ts';
import type { Resources } from './permissions.ts';

/** Returns a function's code: its bundle, or a placeholder if only the template matters. */
export type CodeOf = (name: FunctionName) => Code;

export interface ServiceFunctionProps {
  stage: Stage;
  issuer: Issuer;
  resources: Resources;
  codeOf: CodeOf;
  uses: Uses;
  timeout: Duration;
  /** Default: 512. */
  memoryInMegabytes?: number;
  /** The invocations at the same time that are reserved for this function, which are also its limit. Default: none. */
  concurrency?: number | undefined;
  /** Receives the events on which an asynchronously called function keeps failing. */
  deadLetterQueue?: IQueue;
}

const usualMemoryInMegabytes = 512;

/**
 * A function of the service with its own role, log and traces. Its permissions and environment contain only what follows from
 * `uses`.
 */
export class ServiceFunction extends Construct {
  readonly lambda: LambdaFunction;

  constructor(scope: Construct, name: FunctionName, props: ServiceFunctionProps) {
    super(scope, name.replace('/', '-'));
    const { stage, deadLetterQueue, concurrency, memoryInMegabytes = usualMemoryInMegabytes } = props;
    const functionName = nameIn(stage, name);
    const log = new LogGroup(this, 'Log', {
      logGroupName: `/aws/lambda/${functionName}`,
      retention: stage.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const role = new FunctionRole(this, 'Role', { ...props, log, deadLetterQueue });
    this.lambda = new LambdaFunction(this, 'Function', {
      functionName,
      description: name,
      code: props.codeOf(name),
      handler: 'index.handler',
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: memoryInMegabytes,
      timeout: props.timeout,
      ...(concurrency === undefined ? {} : { reservedConcurrentExecutions: concurrency }),
      environment: environmentOf(name, props),
      role: role.withoutPolicyUpdates(),
      tracing: Tracing.ACTIVE,
      logGroup: log,
      loggingFormat: LoggingFormat.JSON,
      applicationLogLevelV2: stage.logLevel === 'DEBUG' ? ApplicationLogLevel.DEBUG : ApplicationLogLevel.INFO,
      systemLogLevelV2: SystemLogLevel.INFO,
      ...(deadLetterQueue ? { deadLetterQueue } : {}),
    });
    if (!deadLetterQueue)
      acknowledge(this.lambda, 'Serverless-LambdaDLQ', 'Its caller waits for the response and handles failures.');
  }
}

function environmentOf(name: FunctionName, { stage, issuer, resources }: ServiceFunctionProps): Record<string, string> {
  const values: Record<DeployedVariable, string> = {
    STAGE: stage.name,
    SERVICE_VERSION: serviceVersion(),
    LOG_LEVEL: stage.logLevel,
    METRICS_NAMESPACE: metricsNamespace,
    TABLE_NAME: resources.tableName,
    BUCKET_URL: resources.contentUrl,
    STATE_MACHINE_ARN: resources.stateMachineArn,
    SIGNING_KEY_ARN: resources.signingKeyArn,
    PUBLISHED_KEY_ARNS: resources.publishedKeyArns.join(','),
    MEMBERSHIP_CLAIM: issuer.membershipClaim,
    ACCEPT_TIMEOUT_SECONDS: String(stage.runTimes.acceptInSeconds),
    STOP_TIMEOUT_SECONDS: String(stage.runTimes.stopInSeconds),
    WAITS_PER_STAGE: String(stage.waits.perStage),
    WAITS_PER_DOMAIN: String(stage.waits.perDomain),
  };
  return Object.fromEntries(variablesOf(name).map((variable) => [variable, values[variable]]));
}
