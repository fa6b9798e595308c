import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { keptIfProtected, type Stage } from '../stages/stage.ts';
import { dataKeyOf } from './data-key.ts';
import { tableDefinition } from '../../shared/table/table.ts';

/** On demand. Its stream tells which lists to fold, and what to put on the event bus. */
export class ServiceTable extends TableV2 {
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
