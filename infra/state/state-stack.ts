import { CfnOutput, CfnResource, CfnWaitConditionHandle, Stack } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { StageStack } from '../stage-stack.ts';
import type { Resources } from '../service/permissions.ts';
import { nameIn, type Issuer, type Stage } from '../stages.ts';
import { ContentBucket } from './content-bucket.ts';
import { EvidenceKeys } from './evidence-keys.ts';
import { SealingKey } from './sealing-key.ts';
import { ServiceTable } from './service-table.ts';
import { issuerOfPool, Users } from './users.ts';

type TableResources = Pick<Resources, 'tableName' | 'tableArn'>;
type ContentResources = Pick<Resources, 'contentUrl' | 'contentArn'> & { bucketName: string };

/**
 * The state that must survive deployments: the table, the content of the assets, the keys that sign evidence and seal private
 * keys, and the users if the stage has its own. What exists already is referred to by name, so that the other stacks need nothing of this one for it.
 */
export class StateStack extends StageStack {
  readonly resources: Omit<Resources, 'stateMachineArn'>;
  readonly contentBucketName: string;
  readonly issuer: Issuer;

  constructor(scope: Construct, id: string, { stage }: { stage: Stage }) {
    super(scope, id, stage, 'Computation management: table, content, keys, users');
    const table = this.tableOf(stage);
    const { bucketName, ...content } = this.contentOf(stage);
    const { signingKeyArn, publishedKeyArns } = new EvidenceKeys(this, 'EvidenceKeys', stage);
    const { sealingKeyArn } = new SealingKey(this, 'SealingKey', stage);
    this.issuer = this.issuerOf(stage);
    this.contentBucketName = bucketName;
    this.resources = { ...table, ...content, signingKeyArn, sealingKeyArn, publishedKeyArns };
    new CfnOutput(this, 'TableName', { value: table.tableName });
    new CfnOutput(this, 'TableArn', { value: table.tableArn });
    new CfnOutput(this, 'ContentBucketName', { value: bucketName });
    this.avoidEmptiness();
  }

  private tableOf(stage: Stage): TableResources {
    const name = stage.existing?.tableName;
    if (name === undefined) {
      const { tableName, tableArn } = new ServiceTable(this, 'Table', stage);
      return { tableName, tableArn };
    }
    return { tableName: name, tableArn: this.formatArn({ service: 'dynamodb', resource: 'table', resourceName: name }) };
  }

  private contentOf(stage: Stage): ContentResources {
    const name = stage.existing?.contentBucketName;
    if (name === undefined) {
      const content = new ContentBucket(this, 'Content', stage);
      return {
        bucketName: content.bucketName,
        contentUrl: `https://${content.bucketRegionalDomainName}`,
        contentArn: this.exportValue(content.bucketArn, { name: nameIn(stage, 'content-arn') }),
      };
    }
    return {
      bucketName: name,
      contentUrl: `https://${name}.s3.${stage.region}.${Stack.of(this).urlSuffix}`,
      contentArn: `arn:aws:s3:::${name}`,
    };
  }

  /** CloudFormation refuses a stack without resources. */
  private avoidEmptiness(): void {
    if (this.node.findAll().some((construct) => CfnResource.isCfnResource(construct))) return;
    new CfnWaitConditionHandle(this, 'NothingOfItsOwn');
  }

  private issuerOf(stage: Stage): Issuer {
    const pool = stage.existing?.userPool;
    if (stage.issuer && pool) throw new TypeError(`The stage ${stage.name} has both an issuer and an existing user pool.`);
    if (stage.issuer) return stage.issuer;
    return pool ? issuerOfPool(stage, pool) : new Users(this, 'Users', stage).issuer;
  }
}
