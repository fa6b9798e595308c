import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { addLog, acknowledge, customCaller, allow, StageStack, type Resources, usesOfData } from '../house.ts';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import {
  keptIfProtected,
  type Stage,
  recoverableInDays,
  nameIn,
  originsOf,
  type ConsoleClient,
  type Issuer,
} from '../stages/stage.ts';
import { dataKeyOf, cvmAuthorityKeyOf, EvidenceKeys, KeyChanges, logKeyOf, sealingKeyOf } from './keys.ts';
import { tableDefinition } from '../../shared/table/table.ts';
import { schemaKeys } from '../../shared/table/keys.ts';
import { schemaVersion } from '../../shared/table/stored.ts';
import { Duration, Annotations, CfnOutput, Stack } from 'aws-cdk-lib';
import { BackupPlan, BackupPlanRule, BackupResource, BackupVault } from 'aws-cdk-lib/aws-backup';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { StageBus } from '../bus/stage-bus.ts';
import { LogBucket, ContentBucket } from './buckets.ts';
import { issuerOfPool, Users } from './users.ts';

/**
 * The DynamoDB table of the service, billed on demand. Its stream says which lists have changes to fold into their counted trees,
 * and which events go to the event bus.
 */
class ServiceTable extends TableV2 {
  constructor(scope: Construct, id: string, stage: Stage) {
    super(scope, id, {
      partitionKey: { name: tableDefinition.partitionKey, type: AttributeType.STRING },
      sortKey: { name: tableDefinition.sortKey, type: AttributeType.STRING },
      timeToLiveAttribute: tableDefinition.timeToLive,
      billing: Billing.onDemand(),
      encryption:
        stage.dataKeyArn === undefined
          ? TableEncryptionV2.awsManagedKey()
          : TableEncryptionV2.customerManagedKey(dataKeyOf(scope, stage.dataKeyArn)),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: stage.pointInTimeRecovery },
      deletionProtection: stage.deletionProtection,
      removalPolicy: keptIfProtected(stage),
      dynamoStream: StreamViewType.NEW_IMAGE,
    });
  }
}

/**
 * Marks the table with the schema version that the service knows. Fails the deployment if the table has another version, before
 * any function is replaced.
 */
class SchemaCheck extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, { tableName, tableArn }: { tableName: string; tableArn: string }) {
    super(scope, id);
    const { pk, sk } = schemaKeys.version;
    new AwsCustomResource(this, `Version${schemaVersion}`, {
      onUpdate: {
        service: 'dynamodb',
        action: 'UpdateItem',
        parameters: {
          TableName: tableName,
          Key: { pk: { S: pk }, sk: { S: sk } },
          UpdateExpression: 'SET #schema = :version',
          ConditionExpression: 'attribute_not_exists(#schema) OR #schema = :version',
          ExpressionAttributeNames: { '#schema': 'schema' },
          ExpressionAttributeValues: { ':version': { N: String(schemaVersion) } },
        },
        physicalResourceId: PhysicalResourceId.of(`${tableName} ${schemaVersion}`),
      },
      policy: AwsCustomResourcePolicy.fromStatements([allow(['dynamodb:UpdateItem'], tableArn), ...usesOfData(stage.dataKeyArn)]),
      installLatestAwsSdk: false,
      memorySize: 256,
      logGroup: addLog(this, 'Log', stage),
    });
    const reason = 'CDK makes this function for the call. Only CloudFormation calls it, and waits for its result.';
    acknowledge(customCaller(this), {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]': reason,
      'Serverless-LambdaDLQ': reason,
      'Serverless-LambdaTracing': reason,
    });
  }
}

/** The daily copies of the table, the content and the log by AWS Backup, to a vault of another account or Region (docs/restore.md). */
class Copies extends Construct {
  constructor(scope: Construct, id: string, stage: Stage, vaultArn: string, resourceArns: readonly string[]) {
    super(scope, id);
    const vault = new BackupVault(this, 'Vault', {
      backupVaultName: nameIn(stage, 'copies'),
      removalPolicy: stage.removalPolicy,
      ...(stage.deletionProtection ? { lockConfiguration: { minRetention: Duration.days(recoverableInDays) } } : {}),
    });
    const plan = new BackupPlan(this, 'Plan', { backupPlanName: nameIn(stage, 'copies'), backupVault: vault });
    const deleteAfter = Duration.days(recoverableInDays);
    const destinationBackupVault = BackupVault.fromBackupVaultArn(this, 'Destination', vaultArn);
    plan.addRule(
      new BackupPlanRule({
        scheduleExpression: Schedule.cron({ hour: '2', minute: '0' }),
        deleteAfter,
        copyActions: [{ destinationBackupVault, deleteAfter }],
      }),
    );
    const policies = ['service-role/AWSBackupServiceRolePolicyForBackup', 'AWSBackupServiceRolePolicyForS3Backup'];
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('backup.amazonaws.com'),
      managedPolicies: policies.map((name) => ManagedPolicy.fromAwsManagedPolicyName(name)),
    });
    const reason = 'What AWS Backup needs is in policies of AWS, which change with it. Only AWS Backup has the role.';
    for (const name of policies)
      acknowledge(role, { [`AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${name}]`]: reason });
    const resources = resourceArns.map((arn) => BackupResource.fromArn(arn));
    plan.addSelection('State', { resources, role, disableDefaultBackupPolicy: true });
  }
}

/**
 * The stack of the state that must survive deployments. Existing resources are referred to by name, so that other stacks need
 * nothing from this stack for them.
 */
export class StateStack extends StageStack {
  readonly resources: Omit<Resources, 'stateMachineArn' | 'purgeFunctionArn' | 'purgeUrl' | 'mailArns' | 'mailSettings'>;
  /** The origin of the bucket with the content of assets, to which web pages send presigned requests. */
  readonly contentUrl: string;
  readonly issuer: Issuer;
  /** The ARN of the KMS key that signs the certificates of CVMs and of their gateway. Undefined for a stage without a gateway. */
  readonly cvmAuthorityKeyArn: string | undefined;
  /** The client of the issuer with which the console signs in. Undefined if the stage has no console. */
  readonly consoleClient: ConsoleClient | undefined;
  /** The identifier of the user pool's client with which the canary signs in. Undefined without a canary or a user pool. */
  readonly canaryClientId: string | undefined;

  /** @param consoleUrl the origin of the web console. Undefined if the stage has no console */
  constructor(scope: Construct, id: string, stage: Stage, consoleUrl: string | undefined) {
    super(scope, id, stage, 'Computation management: table, content, keys, users');
    const table = this.tableOf(stage);
    const { streamArn } = table;
    if (stage.eventBus) new StageBus(this, 'EventBus', stage, streamArn);
    new SchemaCheck(this, 'Schema', stage, table);
    const content = this.contentOf(stage, originsOf(stage, consoleUrl));
    const log = this.logOf(stage);
    if (stage.copiesVaultArn !== undefined)
      new Copies(this, 'Copies', stage, stage.copiesVaultArn, [table.tableArn, content.contentArn, log.logArn]);
    const logKeyArn = logKeyOf(this, stage);
    const { signingKeyArn, publishedKeyArns } = new EvidenceKeys(this, 'EvidenceKeys', stage);
    this.cvmAuthorityKeyArn = stage.gateway && cvmAuthorityKeyOf(this, stage);
    const sealingKeyArn = sealingKeyOf(this, stage);
    const keyArns = [...publishedKeyArns, logKeyArn, sealingKeyArn, this.cvmAuthorityKeyArn, stage.dataKeyArn];
    new KeyChanges(this, 'KeyChanges', stage, keyArns);
    const { issuer, consoleClient, canaryClientId } = this.usersOf(stage, consoleUrl);
    this.issuer = issuer;
    this.consoleClient = consoleClient;
    this.canaryClientId = canaryClientId;
    this.contentUrl = `https://${content.bucketName}.s3.${stage.region}.${Stack.of(this).urlSuffix}`;
    const keys = { signingKeyArn, sealingKeyArn, publishedKeyArns, logKeyArn, dataKeyArn: stage.dataKeyArn };
    this.resources = { ...table, ...content, ...log, ...keys };
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'TableArn', { value: table.tableArn });
    new CfnOutput(this, 'ContentBucketName', { value: content.bucketName });
    new CfnOutput(this, 'LogBucketName', { value: log.logBucketName });
  }

  private tableOf(stage: Stage): Pick<Resources, 'tableName' | 'tableArn' | 'streamArn'> {
    const name = stage.existing?.tableName;
    if (name === undefined) {
      const { tableName, tableArn, tableStreamArn: streamArn = '' } = new ServiceTable(this, 'Table', stage);
      return { tableName, tableArn, streamArn };
    }
    const tableArn = this.formatArn({ service: 'dynamodb', resource: 'table', resourceName: name });
    return { tableName: name, tableArn, streamArn: this.existingStreamOf(stage, name) };
  }

  private existingStreamOf({ name, existing }: Stage, tableName: string): string {
    const streamArn = existing?.tableStreamArn;
    if (streamArn?.includes(`:table/${tableName}/stream/`)) return streamArn;
    const named = `names ${streamArn}, which is no stream of it (existing.tableStreamArn)`;
    const problem = streamArn === undefined ? 'names no stream of it' : named;
    Annotations.of(this).addError(
      `The stage ${name} has the existing table ${tableName}, but ${problem}. Switch its stream on with new images, ` +
        'and write its ARN into existing.tableStreamArn of the stage in infra/stages/stages.ts (docs/events.md#an-existing-table).',
    );
    return `arn:aws:dynamodb:::table/${tableName}/stream/unknown`;
  }

  private contentOf(stage: Stage, origins: readonly string[]): Pick<Resources, 'bucketName' | 'contentArn'> {
    const name = stage.existing?.contentBucketName;
    if (name !== undefined) return { bucketName: name, contentArn: `arn:${this.partition}:s3:::${name}` };
    const { bucketName, bucketArn, accessLogBucketName } = new ContentBucket(this, 'Content', stage, origins);
    new CfnOutput(this, 'AccessLogBucketName', { value: accessLogBucketName });
    return { bucketName, contentArn: this.exportValue(bucketArn, { name: nameIn(stage, 'content-arn') }) };
  }

  private logOf(stage: Stage): Pick<Resources, 'logBucketName' | 'logArn'> {
    const name = stage.existing?.logBucketName;
    if (name !== undefined) return { logBucketName: name, logArn: `arn:${this.partition}:s3:::${name}` };
    const { bucketName, bucketArn } = new LogBucket(this, 'Log', stage);
    return { logBucketName: bucketName, logArn: this.exportValue(bucketArn, { name: nameIn(stage, 'log-arn') }) };
  }

  private usersOf(stage: Stage, consoleUrl: string | undefined): Pick<StateStack, 'issuer' | 'consoleClient' | 'canaryClientId'> {
    const pool = stage.existing?.userPool;
    if (stage.issuer && pool) throw new TypeError(`The stage ${stage.name} has both an issuer and an existing user pool.`);
    const consoleClient = stage.console?.client;
    const issuer = stage.issuer ?? (pool && issuerOfPool(stage, pool));
    if (!issuer) return new Users(this, 'Users', stage, consoleUrl);
    if (stage.publicClient)
      throw new TypeError(`The stage ${stage.name} has no user pool of its own: make its public client where its users are.`);
    if (stage.console && !consoleClient)
      throw new TypeError(`The console of the stage ${stage.name} needs a client of its issuer.`);
    return { issuer, consoleClient, canaryClientId: stage.canary?.poolClientId };
  }
}
