import { ConditionalCheckFailedException, UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { RemovalPolicy } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import { schemaKeys } from '../../../shared/table/keys.ts';
import { deleteItems, putItem } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { flat, originsOf, synthesize } from '../../support/synthesized-stages.ts';
import { assertSchemaOfTable } from '../../../shared/table/stored.ts';
import { tableDefinition } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);

describe.each(synthesize())('the state stack of $stage.name', ({ stage, stacks: { state } }) => {
  const isKept = stage.removalPolicy !== RemovalPolicy.DESTROY;
  const deletion = isKept ? 'RetainExceptOnCreate' : 'Delete'; // a failed first deployment leaves nothing
  const ofProtected = stage.deletionProtection ? 'Retain' : deletion; // CloudFormation could not delete it
  const policiesOf = (type: string) =>
    Object.values(state.resources)
      .filter(({ Type }) => Type === type)
      .map(({ DeletionPolicy }) => DeletionPolicy);

  it('has termination protection if the stage asks for it', () => {
    expect(state.terminationProtection).toBe(stage.terminationProtection);
  });

  it('has one table, on demand, encrypted, recoverable and protected as the stage says', () => {
    const tables = Object.values(state.ofType<Record<string, unknown>>('AWS::DynamoDB::GlobalTable'));
    expect(tables).toHaveLength(1);
    expect(tables[0]).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
      KeySchema: [
        { AttributeName: tableDefinition.partitionKey, KeyType: 'HASH' },
        { AttributeName: tableDefinition.sortKey, KeyType: 'RANGE' },
      ],
      TimeToLiveSpecification: { AttributeName: tableDefinition.timeToLive, Enabled: true },
      Replicas: [
        {
          Region: stage.region,
          DeletionProtectionEnabled: stage.deletionProtection,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: stage.pointInTimeRecovery },
        },
      ],
    });
    expect(policiesOf('AWS::DynamoDB::GlobalTable')).toEqual([ofProtected]);
  });

  it('marks its table with the schema version, and fails the deployment if the table has that of another', async () => {
    const [check, ...others] = Object.values(state.ofType<Record<'Create' | 'Update', unknown>>('Custom::AWS'));
    expect(others).toEqual([]);
    expect(check?.Update).toEqual(check?.Create);
    const { action, parameters } = JSON.parse(flat(check?.Update)) as { action: string; parameters: UpdateItemCommandInput };
    expect(action).toBe('UpdateItem');
    const { table } = embedded;
    const call = () => table.document.send(new UpdateItemCommand({ ...parameters, TableName: table.name }));
    for (const _ of ['first', 'second']) await call();
    await assertSchemaOfTable(table);
    await putItem(table, { ...schemaKeys.version, schema: 2 });
    await expect(call()).rejects.toThrow(ConditionalCheckFailedException);
    await deleteItems(table, [schemaKeys.version]);
  });

  it('encrypts every bucket, and blocks public access, other object owners and plain HTTP', () => {
    const buckets = state.ofType<Record<string, unknown>>('AWS::S3::Bucket');
    const policies = Object.values(
      state.ofType<{ Bucket: unknown; PolicyDocument: { Statement: { Effect: string; Condition?: object }[] } }>(
        'AWS::S3::BucketPolicy',
      ),
    );
    for (const [id, bucket] of Object.entries(buckets)) {
      expect(bucket).toMatchObject({
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        OwnershipControls: { Rules: [{ ObjectOwnership: 'BucketOwnerEnforced' }] },
        BucketEncryption: { ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }] },
      });
      const policy = policies.find((found) => flat(found.Bucket).includes(id));
      const denials = policy?.PolicyDocument.Statement.filter(({ Effect }) => Effect === 'Deny').map(
        ({ Condition }) => Condition,
      );
      expect(denials).toContainEqual({ Bool: { 'aws:SecureTransport': 'false' } });
    }
    expect(policiesOf('AWS::S3::Bucket')).toEqual([deletion, deletion]);
  });

  it('logs every access to the content, reports new objects to EventBridge, and keeps deleted ones for 35 days and tokens for 400', () => {
    const buckets = Object.values(state.ofType<Record<string, unknown>>('AWS::S3::Bucket'));
    const content = buckets.filter((bucket) => bucket['NotificationConfiguration'] !== undefined);
    expect(content).toHaveLength(1);
    expect(content[0]).toMatchObject({
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
      LoggingConfiguration: expect.anything(),
      VersioningConfiguration: { Status: 'Enabled' },
      LifecycleConfiguration: {
        Rules: [
          {
            AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
            NoncurrentVersionExpiration: { NoncurrentDays: 35 },
            ExpiredObjectDeleteMarker: true,
            Status: 'Enabled',
          },
          { Prefix: 'content/attestation/', ExpirationInDays: 400, Status: 'Enabled' },
        ],
      },
    });
    const { CorsRules } = (content[0]?.['CorsConfiguration'] ?? {}) as { CorsRules?: Record<string, string[]>[] };
    const rule = {
      AllowedOrigins: originsOf(stage),
      AllowedMethods: ['GET', 'PUT'],
      AllowedHeaders: ['content-type', 'if-none-match'],
    };
    expect(CorsRules).toEqual(originsOf(stage).length > 0 ? [expect.objectContaining(rule)] : undefined);
  });

  it('has keys on P-256 that sign and cannot be exported', () => {
    const keys = Object.values(state.ofType<Record<string, unknown>>('AWS::KMS::Key')).filter((key) => 'KeySpec' in key);
    expect(keys).toHaveLength(stage.evidenceKeys.length + (stage.gateway ? 1 : 0));
    for (const key of keys) expect(key).toMatchObject({ KeySpec: 'ECC_NIST_P256', KeyUsage: 'SIGN_VERIFY', MultiRegion: true });
    expect(new Set(policiesOf('AWS::KMS::Key'))).toEqual(new Set([deletion]));
  });

  it('has one key that seals private keys, which KMS rotates', () => {
    const keys = Object.values(state.ofType<Record<string, unknown>>('AWS::KMS::Key')).filter((key) => !('KeySpec' in key));
    expect(keys).toMatchObject([{ EnableKeyRotation: true, MultiRegion: true }]);
  });

  it('keeps who has disabled any of its keys, or asked for its deletion', () => {
    const [rule] = Object.values(state.ofType<{ EventPattern: { detail: unknown } }>('AWS::Events::Rule'));
    const keys = Object.keys(state.ofType('AWS::KMS::Key')).map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] }));
    expect(rule?.EventPattern.detail).toEqual({
      eventName: ['DisableKey', 'ScheduleKeyDeletion'],
      resources: { ARN: expect.arrayContaining(keys) as unknown },
    });
  });

  it('has a user pool only if the stage names no issuer', () => {
    const pools = Object.values(state.ofType<Record<string, unknown>>('AWS::Cognito::UserPool'));
    expect(pools).toHaveLength(stage.issuer ? 0 : 1);
    for (const pool of pools) {
      expect(pool).toMatchObject({
        AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
        DeletionProtection: stage.deletionProtection ? 'ACTIVE' : 'INACTIVE',
      });
    }
    expect(policiesOf('AWS::Cognito::UserPool')).toEqual(stage.issuer ? [] : [ofProtected]);
  });
});
