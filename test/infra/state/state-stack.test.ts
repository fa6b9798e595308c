import { readFileSync } from 'node:fs';
import { ConditionalCheckFailedException, UpdateItemCommand, type UpdateItemCommandInput } from '@aws-sdk/client-dynamodb';
import { RemovalPolicy } from 'aws-cdk-lib';
import { describe, expect, it } from 'vitest';
import type { Stage } from '../../../infra/stages/stage.ts';
import { schemaKeys } from '../../../shared/table/keys.ts';
import { deleteItems, putItem } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { errorsOf, flat, fullStage, originsOf, ownStage, synthesize, type Resource } from '../../support/synthesized-stages.ts';
import { assertSchemaOfTable } from '../../../shared/table/stored.ts';
import { tableDefinition } from '../../../shared/table/table.ts';

interface Bucket {
  LifecycleConfiguration: { Rules: { ExpirationInDays?: number; Prefix?: string }[] };
}

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

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
    expect(policiesOf('AWS::S3::Bucket')).toEqual([deletion, deletion, deletion]);
  });

  it('keeps the access log of the content for the audit, and no log of a function longer than the stage says', () => {
    const [days] = Object.values(state.ofType<Bucket>('AWS::S3::Bucket')).flatMap(
      ({
        LifecycleConfiguration: {
          Rules: [rule],
        },
      }) => (rule?.ExpirationInDays !== undefined && rule.Prefix === undefined ? [rule.ExpirationInDays] : []),
    );
    expect(days).toBe(stage.auditRetention);
    const logs = Object.values(state.ofType<{ RetentionInDays: number }>('AWS::Logs::LogGroup'));
    expect(new Set(logs.map(({ RetentionInDays }) => RetentionInDays))).toEqual(new Set([stage.logRetention]));
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

  it('has keys on P-256 that sign and cannot be exported, and one of Ed25519 for the log', () => {
    const signing = Object.values(state.ofType<Record<string, unknown>>('AWS::KMS::Key')).filter((key) => 'KeySpec' in key);
    const keys = signing.filter(({ KeySpec }) => KeySpec !== 'ECC_NIST_EDWARDS25519');
    expect(signing).toHaveLength(keys.length + 1);
    for (const key of signing) expect(key).toMatchObject({ KeyUsage: 'SIGN_VERIFY', MultiRegion: true });
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
        MfaConfiguration: 'OPTIONAL',
      });
    }
    expect(policiesOf('AWS::Cognito::UserPool')).toEqual(stage.issuer ? [] : [ofProtected]);
  });
});

describe('the audit of a protected stage', () => {
  const { state, service } = stacksOf({ ...ownStage, deletionProtection: true });
  const ofAudit = (resources: Record<string, Resource>, id: RegExp) =>
    Object.entries(resources).flatMap(([name, { DeletionPolicy }]) => (id.test(name) ? [DeletionPolicy] : []));

  it('outlives its stacks, also if its data does not', () => {
    expect(ofAudit(service.resources, /^ApiAccessLog/)).toEqual(['RetainExceptOnCreate']);
    expect(ofAudit(state.resources, /^ContentAccessLogs[0-9A-F]{8}$/)).toEqual(['RetainExceptOnCreate']);
    const unprotected = stacksOf(ownStage);
    expect(ofAudit(unprotected.service.resources, /^ApiAccessLog/)).toEqual(['Delete']);
  });

  it('has a name of its own for each stack, so that a stage can be made again', () => {
    const [log] = Object.entries(service.resources).filter(([id]) => id.startsWith('ApiAccessLog'));
    const name = JSON.stringify(log?.[1].Properties['LogGroupName']);
    expect(name).toContain('/aws/vendedlogs/computations-dev-api/');
    expect(name).toContain('AWS::StackId');
    expect(log?.[1].Properties['RetentionInDays']).toBe(ownStage.auditRetention);
  });
});

describe('what stays when a stage is removed', () => {
  const page = readFileSync(new URL('../../../docs/deploy.md', import.meta.url), 'utf8');
  const kept = Object.values(stacksOf(fullStage)).flatMap((stack) =>
    Object.values(stack.resources).filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain')),
  );

  it('has no fixed name, but for what docs/deploy.md says to remove by hand', () => {
    const named = kept.flatMap(({ Type, Properties }) =>
      Object.entries(Properties).flatMap(([key, value]) =>
        /Name$/.test(key) && typeof value === 'string' ? [`${Type} ${value}`] : [],
      ),
    );
    expect(named.sort()).toEqual([
      'AWS::Backup::BackupVault computations-full-copies',
      'AWS::ElasticLoadBalancingV2::LoadBalancer computations-full-cvms',
    ]);
    expect(page).toContain('computations-<stage>-copies');
    expect(page).toContain('the load balancer stays');
  });

  it('are backups that nobody can delete sooner, if the stage is protected', () => {
    const vaults = kept.filter(({ Type }) => Type === 'AWS::Backup::BackupVault');
    expect(vaults).toMatchObject([{ Properties: { LockConfiguration: { MinRetentionDays: 35 } } }]);
  });
});

describe('a stage whose users need a second factor', () => {
  it('has a pool that demands it, and no canary with a password', () => {
    const pools = Object.values(stacksOf({ ...ownStage, mfa: 'required' }).state.ofType('AWS::Cognito::UserPool'));
    expect(pools).toMatchObject([{ MfaConfiguration: 'ON' }]);
    expect(errorsOf({ ...ownStage, mfa: 'required', canary: { everyMinutes: 15 } })).toEqual([
      expect.stringContaining('signs in with a password alone'),
    ]);
  });
});

function stacksOf(row: Stage) {
  const [synthesized] = synthesize([row]);
  if (!synthesized) throw new Error('Nothing was synthesized.');
  return synthesized.stacks;
}
