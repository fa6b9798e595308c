import { RemovalPolicy } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import {
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
  type FunctionProps,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import { allow, roleOf } from './permissions.ts';
import { nameIn, type Stage } from '../stages/stage.ts';

type Given = 'functionName' | 'handler' | 'runtime' | 'architecture' | 'role' | 'tracing' | 'logGroup' | 'loggingFormat';

export interface LoggedFunctionProps extends Omit<FunctionProps, Given> {
  stage: Stage;
  /** The name of the function in the stage, such as `canary`. */
  name: string;
  /** The permissions of the function's role, besides those for its own log, its traces and its dead-letter queue. */
  may: PolicyStatement[];
  isTraced: boolean;
}

/** Adds a Lambda function with a role and a log group of its own to the scope, as the constructs `Function`, `Role` and `Log`. */
export function loggedFunction(scope: Construct, { stage, name, may, isTraced, ...props }: LoggedFunctionProps): LambdaFunction {
  const { deadLetterQueue } = props;
  const functionName = nameIn(stage, name);
  const log = new LogGroup(scope, 'Log', {
    logGroupName: `/aws/lambda/${functionName}`,
    retention: stage.logRetention,
    removalPolicy: RemovalPolicy.DESTROY,
  });
  const role = roleOf(scope, 'Role', 'lambda.amazonaws.com', [
    ...may,
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], log.logGroupArn),
    ...(isTraced ? [allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*')] : []),
    ...(deadLetterQueue ? [allow(['sqs:SendMessage'], deadLetterQueue.queueArn)] : []),
  ]);
  if (isTraced) {
    const traces = 'X-Ray traces support no resource-level permissions.';
    acknowledge(role, 'Serverless-LambdaStarPermissions', traces);
    acknowledge(role, 'AwsSolutions-IAM5[Resource::*]', traces);
  }
  return new LambdaFunction(scope, 'Function', {
    ...props,
    functionName,
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    role: role.withoutPolicyUpdates(),
    tracing: isTraced ? Tracing.ACTIVE : Tracing.DISABLED,
    logGroup: log,
    loggingFormat: LoggingFormat.JSON,
  });
}
