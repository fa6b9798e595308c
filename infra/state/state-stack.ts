import { Annotations, CfnOutput, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { StageBus } from '../bus/stage-bus.ts';
import { StageStack } from '../house/stage-stack.ts';
import type { Resources } from '../house/permissions.ts';
import { nameIn, originsOf, type ConsoleClient, type Issuer, type Stage } from '../stages/stage.ts';
import { CvmAuthorityKey, EvidenceKeys, KeyChanges, SealingKey } from './keys.ts';
import { Copies } from './copies.ts';
import { ContentBucket } from './content-bucket.ts';
import { SchemaCheck, ServiceTable } from './service-table.ts';
import { issuerOfPool, Users } from './users.ts';

type TableResources = Pick<Resources, 'tableName' | 'tableArn' | 'streamArn'>;
type ContentResources = Pick<Resources, 'bucketName' | 'contentArn'>;

export interface StateStackProps {
  stage: Stage;
  /** The origin of the web console. Undefined if the stage has no console. */
  consoleUrl: string | undefined;
}

/**
 * The stack of the state that must survive deployments. Existing resources are referred to by name, so that other stacks need
 * nothing from this stack for them.
 */
export class StateStack extends StageStack {
  readonly resources: Omit<Resources, 'stateMachineArn' | 'purgeFunctionArn' | 'purgeUrl'>;
  /** The origin of the bucket with the content of assets, to which web pages send presigned requests. */
  readonly contentUrl: string;
  readonly issuer: Issuer;
  /** The ARN of the KMS key that signs the certificates of CVMs and of their gateway. Undefined for a stage without a gateway. */
  readonly cvmAuthorityKeyArn: string | undefined;
  /** The client of the issuer with which the console signs in. Undefined if the stage has no console. */
  readonly consoleClient: ConsoleClient | undefined;
  /** The identifier of the user pool's client with which the canary signs in. Undefined without a canary or a user pool. */
  readonly canaryClientId: string | undefined;

  constructor(scope: Construct, id: string, { stage, consoleUrl }: StateStackProps) {
    super(scope, id, stage, 'Computation management: table, content, keys, users');
    const table = this.tableOf(stage);
    const { streamArn } = table;
    if (stage.eventBus) new StageBus(this, 'EventBus', { stage, streamArn });
    new SchemaCheck(this, 'Schema', stage, table);
    const content = this.contentOf(stage, originsOf(stage, consoleUrl));
    if (stage.copiesVaultArn !== undefined)
      new Copies(this, 'Copies', stage, stage.copiesVaultArn, [table.tableArn, content.contentArn]);
    const { signingKeyArn, publishedKeyArns } = new EvidenceKeys(this, 'EvidenceKeys', stage);
    this.cvmAuthorityKeyArn = stage.gateway && new CvmAuthorityKey(this, 'CvmAuthorityKey', stage).keyArn;
    const { sealingKeyArn } = new SealingKey(this, 'SealingKey', stage);
    const keyArns = [...publishedKeyArns, sealingKeyArn, this.cvmAuthorityKeyArn, stage.dataKeyArn];
    new KeyChanges(this, 'KeyChanges', stage, keyArns);
    const { issuer, consoleClient, canaryClientId } = this.usersOf(stage, consoleUrl);
    this.issuer = issuer;
    this.consoleClient = consoleClient;
    this.canaryClientId = canaryClientId;
    this.contentUrl = `https://${content.bucketName}.s3.${stage.region}.${Stack.of(this).urlSuffix}`;
    this.resources = { ...table, ...content, signingKeyArn, sealingKeyArn, publishedKeyArns, dataKeyArn: stage.dataKeyArn };
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'TableArn', { value: table.tableArn });
    new CfnOutput(this, 'ContentBucketName', { value: content.bucketName });
  }

  private tableOf(stage: Stage): TableResources {
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
    const problem =
      streamArn === undefined
        ? 'names no stream of it'
        : `names ${streamArn}, which is no stream of it (existing.tableStreamArn)`;
    Annotations.of(this).addError(
      `The stage ${name} has the existing table ${tableName}, but ${problem}. Switch its stream on with new images, ` +
        'and write its ARN into existing.tableStreamArn of the stage in infra/stages/stages.ts (docs/events.md#an-existing-table).',
    );
    return `arn:aws:dynamodb:::table/${tableName}/stream/unknown`;
  }

  private contentOf(stage: Stage, origins: readonly string[]): ContentResources {
    const name = stage.existing?.contentBucketName;
    if (name === undefined) {
      const content = new ContentBucket(this, 'Content', stage, origins);
      new CfnOutput(this, 'AccessLogBucketName', { value: content.accessLogBucketName });
      return {
        bucketName: content.bucketName,
        contentArn: this.exportValue(content.bucketArn, { name: nameIn(stage, 'content-arn') }),
      };
    }
    return {
      bucketName: name,
      contentArn: `arn:${this.partition}:s3:::${name}`,
    };
  }

  private usersOf(stage: Stage, consoleUrl: string | undefined): Pick<StateStack, 'issuer' | 'consoleClient' | 'canaryClientId'> {
    const pool = stage.existing?.userPool;
    if (stage.issuer && pool) throw new TypeError(`The stage ${stage.name} has both an issuer and an existing user pool.`);
    const consoleClient = stage.console?.client;
    const issuer = stage.issuer ?? (pool && issuerOfPool(stage, pool, { console: consoleClient, canary: stage.canary }));
    if (!issuer) return new Users(this, 'Users', { stage, consoleUrl });
    if (stage.publicClient)
      throw new TypeError(`The stage ${stage.name} has no user pool of its own: make its public client where its users are.`);
    if (stage.console && !consoleClient)
      throw new TypeError(`The console of the stage ${stage.name} needs a client of its issuer.`);
    return { issuer, consoleClient, canaryClientId: stage.canary?.poolClientId };
  }
}
