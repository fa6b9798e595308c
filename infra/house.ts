import { Annotations, Stack, Token, Validations, RemovalPolicy, Tags, Duration } from 'aws-cdk-lib';
import { AwsCustomResource } from 'aws-cdk-lib/custom-resources';
import type { IConstruct, Construct } from 'constructs';
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Uses } from '../shared/runtime/uses.ts';
import {
  Architecture,
  Function as LambdaFunction,
  LoggingFormat,
  Runtime,
  Tracing,
  type FunctionProps,
} from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { nameIn, type Stage, undeliveredStaysInDays, webhookRuleName, webhooksOf } from './stages/stage.ts';
import { HostedZone, type IHostedZone } from 'aws-cdk-lib/aws-route53';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';

/** Accepts findings of cdk-nag for a construct and its children. @param reasons why each is acceptable, by the rule of cdk-nag */
export function acknowledge(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [id, reason] of Object.entries(reasons)) Validations.of(construct).acknowledge({ id, reason });
}

/** Keeps `cdk synth` from accepting a stage that has one of the faults. @param faults each with whether the stage has it, and a sentence */
export function refuse(construct: IConstruct, faults: readonly [isThere: boolean, text: string][]): void {
  for (const [isThere, text] of faults) if (isThere) Annotations.of(construct).addError(text);
}

/** Returns a value as findings of cdk-nag show it. @param otherwise what they show of a value that only CloudFormation knows */
export function shown(value: string, otherwise: string): string {
  return Token.isUnresolved(value) ? otherwise : value;
}

/** Returns the start of an ARN in the account of a construct as findings of cdk-nag show it, such as `arn:aws:ecs:eu-central-1:111122223333`. */
export function shownArn(construct: IConstruct, service: string): string {
  const { partition, account, region } = Stack.of(construct);
  return `arn:${shown(partition, '<AWS::Partition>')}:${service}:${region}:${shown(account, '<AWS::AccountId>')}`;
}

/** Returns the function of the CDK that makes the calls of all `AwsCustomResource` of a construct's stack. */
export function customCaller(construct: IConstruct): IConstruct {
  return Stack.of(construct).node.findChild(`AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`);
}

/** The resources that functions access. The ARNs of the state machine and of functions are built from their names: they refer to each other. */
export interface Resources {
  tableName: string;
  tableArn: string;
  streamArn: string;
  bucketName: string;
  contentArn: string;
  logBucketName: string;
  logArn: string;
  logKeyArn: string;
  stateMachineArn: string;
  signingKeyArn: string;
  sealingKeyArn: string;
  publishedKeyArns: readonly string[];
  /** The ARN of the KMS key that encrypts the table and the content of assets. Undefined: AWS's own keys encrypt them. */
  dataKeyArn: string | undefined;
  /** The ARNs of the identities of SES that the stage sends mail from. Empty if it sends none. */
  mailArns: readonly string[];
  /** The settings of the stage's mail as JSON. Empty if it sends none. */
  mailSettings: string;
  purgeFunctionArn: string;
  /** The URL of Lambda's API at which the function that purges deleted data is called. */
  purgeUrl: string;
}

/** The actions on the KMS key of the data that callers of the encrypted table and bucket need. */
const ofDataKey = ['Decrypt', 'DescribeKey', 'Encrypt', 'GenerateDataKey', 'ReEncryptFrom', 'ReEncryptTo'];

/** Returns the policy statements that let a role use what is encrypted with a key of the customer. None without such a key. */
export const usesOfData = (keyArn: string | undefined): PolicyStatement[] =>
  keyArn === undefined ? [] : allowIn('kms', ofDataKey, keyArn);

/** Returns the policy statements that allow exactly the actions that a function declares in `uses`. */
export function permissionsFor(uses: Uses, resources: Resources): PolicyStatement[] {
  const { contentArn, stateMachineArn, signingKeyArn, dataKeyArn } = resources;
  const [ofExecutions, ofMachine] = split(uses.stateMachine, 'DescribeExecution');
  const [ofLog, ofObjects] = split(uses.log, 'ListBucket');
  return [
    ...allowIn('dynamodb', uses.table, resources.tableArn),
    ...allowIn('s3', uses.content, `${contentArn}/content/*`),
    ...allowIn('s3', uses.bucket, contentArn),
    ...allowIn('s3', ofObjects, `${resources.logArn}/*`),
    ...allowIn('s3', ofLog, resources.logArn),
    ...allowIn('kms', uses.logKey, resources.logKeyArn),
    ...allowIn('states', ofMachine, stateMachineArn),
    ...allowIn('states', ofExecutions, `${stateMachineArn.replace(':stateMachine:', ':execution:')}:*`),
    ...((uses.table ?? uses.content ?? uses.stream) ? usesOfData(dataKeyArn) : []),
    ...allowIn('kms', uses.signingKey, signingKeyArn),
    ...sealingIn(uses, resources.sealingKeyArn),
    ...allowIn('kms', uses.publishedKeys, ...resources.publishedKeyArns),
    ...(resources.mailArns.length > 0 ? allowIn('ses', uses.mail, ...resources.mailArns) : []),
    ...allowIn('lambda', uses.purge, resources.purgeFunctionArn),
    ...allowIn('dynamodb', uses.stream, resources.streamArn),
  ];
}

/** Allows the actions with the sealing key on secrets of one kind of owner alone: KMS binds each to its owner, by the encryption context. */
function sealingIn({ sealingKey, seals }: Uses, arn: string): PolicyStatement[] {
  const statements = allowIn('kms', sealingKey, arn);
  for (const each of statements) each.addCondition('StringLike', { [`kms:EncryptionContext:${seals ?? 'computation'}`]: '*' });
  return statements;
}

/** Splits actions into the one with a name, if it is among them, and the others. */
function split(actions: readonly string[] = [], name: string): [string[], string[]] {
  return [actions.filter((action) => action === name), actions.filter((action) => action !== name)];
}

function allowIn(service: string, actions: readonly string[] | undefined, ...resources: string[]): PolicyStatement[] {
  const named = actions?.map((action) => `${service}:${action}`) ?? [];
  return named.length === 0 ? [] : [allow(named, ...resources)];
}

export function allow(actions: string[], ...resources: string[]): PolicyStatement {
  return new PolicyStatement({ actions, resources });
}

/**
 * Adds a role with exactly the given permissions. @param service the service of AWS that assumes the role, such as
 * `lambda.amazonaws.com`
 */
export function roleOf(scope: Construct, id: string, service: string, statements: PolicyStatement[]): Role {
  return new Role(scope, id, {
    assumedBy: new ServicePrincipal(service),
    inlinePolicies: { uses: new PolicyDocument({ statements }) },
  });
}

type Given = 'functionName' | 'handler' | 'runtime' | 'architecture' | 'role' | 'tracing' | 'logGroup' | 'loggingFormat';

export interface LoggedFunctionProps extends Omit<FunctionProps, Given> {
  stage: Stage;
  /** The name of the function in the stage, such as `canary`. */
  name: string;
  /** The permissions of the function's role, besides those for its own log, its traces and its dead-letter queue. */
  may: PolicyStatement[];
  isTraced: boolean;
}

/** Adds a log group that keeps its entries as long as the stage says. @param logGroupName its name. Default: one that CloudFormation makes */
export function addLog(scope: Construct, id: string, { logRetention: retention }: Stage, logGroupName?: string): LogGroup {
  return new LogGroup(scope, id, { ...(logGroupName ? { logGroupName } : {}), retention, removalPolicy: RemovalPolicy.DESTROY });
}

/** Adds a Lambda function with a role and a log group of its own to the scope, as the constructs `Function`, `Role` and `Log`. */
export function loggedFunction(scope: Construct, { stage, name, may, isTraced, ...props }: LoggedFunctionProps): LambdaFunction {
  const { deadLetterQueue } = props;
  const functionName = nameIn(stage, name);
  const log = addLog(scope, 'Log', stage, `/aws/lambda/${functionName}`);
  const role = roleOf(scope, 'Role', 'lambda.amazonaws.com', [
    ...may,
    allow(['logs:CreateLogStream', 'logs:PutLogEvents'], log.logGroupArn),
    ...(isTraced ? [allow(['xray:PutTraceSegments', 'xray:PutTelemetryRecords'], '*')] : []),
    ...(deadLetterQueue ? [allow(['sqs:SendMessage'], deadLetterQueue.queueArn)] : []),
  ]);
  if (isTraced) {
    const traces = 'X-Ray traces support no resource-level permissions.';
    acknowledge(role, { 'Serverless-LambdaStarPermissions': traces, 'AwsSolutions-IAM5[Resource::*]': traces });
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

/** A stack of a stage, with the stage's name prefix, tags and termination protection. */
export class StageStack extends Stack {
  constructor(scope: Construct, id: string, stage: Stage, description: string) {
    super(scope, id, {
      stackName: nameIn(stage, id.toLowerCase()),
      description: `${description} (${stage.name})`,
      terminationProtection: stage.terminationProtection,
    });
    Tags.of(this).add('service', 'computation-management');
    Tags.of(this).add('stage', stage.name);
  }
}

/** Returns the Route 53 hosted zone of a stage, or undefined if the stage names none. */
export function zoneOf(scope: Construct, { hostedZone }: Stage): IHostedZone | undefined {
  if (!hostedZone) return undefined;
  return HostedZone.fromHostedZoneAttributes(scope, 'Zone', { hostedZoneId: hostedZone.id, zoneName: hostedZone.name });
}

/** A queue of messages that could not be delivered. An alarm must report every message. */
export class DeadLetterQueue extends Queue {
  constructor(scope: Construct, id: string, queueName: string) {
    super(scope, id, {
      queueName,
      retentionPeriod: Duration.days(undeliveredStaysInDays),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    const reason = 'It is a dead-letter queue itself. An alarm reports every message.';
    acknowledge(this, { 'AwsSolutions-SQS3': reason, 'Serverless-SQSRedrivePolicy': reason });
  }
}

/** The queue of events whose function could not be called or failed in all attempts, and of alarms that no webhook accepted. */
export class Undelivered extends DeadLetterQueue {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, nameIn(stage, 'undelivered'));
    if (webhooksOf(stage).length === 0) return;
    // The CDK itself lets rules of the queue's stack send, and not those of another one.
    const rule = Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName: webhookRuleName(stage, '*') });
    this.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [this.queueArn],
        conditions: { ArnLike: { 'aws:SourceArn': rule } },
      }),
    );
  }
}
