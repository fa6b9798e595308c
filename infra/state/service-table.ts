import { AttributeType, Billing, StreamViewType, TableEncryptionV2, TableV2 } from 'aws-cdk-lib/aws-dynamodb';
import { Construct } from 'constructs';
import { RemovalPolicy, Stack } from 'aws-cdk-lib';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import { AwsCustomResource, AwsCustomResourcePolicy, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { keptIfProtected, type Stage } from '../stages/stage.ts';
import { dataKeyOf } from './keys.ts';
import { tableDefinition } from '../../shared/table/table.ts';
import { schemaKeys } from '../../shared/table/keys.ts';
import { schemaVersion } from '../../shared/table/stored.ts';
import { acknowledge } from '../house/acknowledge.ts';
import { allow } from '../house/permissions.ts';

/**
 * The DynamoDB table of the service, billed on demand. Its stream says which lists have changes to fold into their counted trees,
 * and which events go to the event bus.
 */
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

/**
 * Marks the table with the schema version that the service knows. Fails the deployment if the table has another version, before
 * any function is replaced.
 */
export class SchemaCheck extends Construct {
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
      policy: AwsCustomResourcePolicy.fromStatements([allow(['dynamodb:UpdateItem'], tableArn)]),
      installLatestAwsSdk: false,
      memorySize: 256,
      logGroup: new LogGroup(this, 'Log', { retention: stage.logRetention, removalPolicy: RemovalPolicy.DESTROY }),
    });
    this.acknowledgeFindings();
  }

  private acknowledgeFindings(): void {
    const caller = Stack.of(this).node.findChild(`AWS${AwsCustomResource.PROVIDER_FUNCTION_UUID.replaceAll('-', '')}`);
    const reason = 'CDK makes this function for the call. Only CloudFormation calls it, and waits for its result.';
    const findings = [
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]',
      'Serverless-LambdaDLQ',
      'Serverless-LambdaTracing',
    ];
    for (const id of findings) acknowledge(caller, id, reason);
  }
}
