import type { Construct } from 'constructs';
import { StageStack } from '../stage-stack.ts';
import type { Resources } from '../service/permissions.ts';
import { nameIn, type Issuer, type Stage } from '../stages.ts';
import { ContentBucket } from './content-bucket.ts';
import { EvidenceKeys } from './evidence-keys.ts';
import { ServiceTable } from './service-table.ts';
import { Users } from './users.ts';

/**
 * The state that must survive deployments: the table, the content of the assets, the keys that sign evidence, and the users if the
 * stage has its own.
 */
export class StateStack extends StageStack {
  readonly resources: Omit<Resources, 'stateMachineArn'>;
  readonly contentBucketName: string;
  readonly issuer: Issuer;

  constructor(scope: Construct, id: string, { stage }: { stage: Stage }) {
    super(scope, id, stage, 'Computation management: table, content, keys, users');
    const table = new ServiceTable(this, 'Table', stage);
    const content = new ContentBucket(this, 'Content', stage);
    const evidenceKeys = new EvidenceKeys(this, 'EvidenceKeys', stage);
    this.issuer = stage.issuer ?? new Users(this, 'Users', stage).issuer;

    this.contentBucketName = content.bucketName;
    this.resources = {
      tableName: table.tableName,
      tableArn: table.tableArn,
      contentUrl: `https://${content.bucketRegionalDomainName}`,
      contentArn: this.exportValue(content.bucketArn, { name: nameIn(stage, 'content-arn') }),
      signingKeyArn: evidenceKeys.signingKeyArn,
      publishedKeyArns: evidenceKeys.publishedKeyArns,
    };
  }
}
