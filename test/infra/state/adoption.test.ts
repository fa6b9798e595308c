import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Stage } from '../../../infra/stages/stage.ts';
import {
  findingsOf,
  ownStage,
  synthesize,
  type SynthesizedStack,
  type SynthesizedStage,
} from '../../support/synthesized-stages.ts';

interface TableProperties {
  Replicas: { Tags: { Key: string; Value: string }[] }[];
}

const restoring = readFileSync(new URL('../../../docs/restore.md', import.meta.url), 'utf8');

const tableName = 'computations-restored';
const table = {
  tableName,
  tableStreamArn: `arn:aws:dynamodb:eu-central-1:111122223333:table/${tableName}/stream/2026-11-22T00:00:00.000`,
};
const existing = {
  ...table,
  contentBucketName: 'content-restored',
  logBucketName: 'log-restored',
  userPool: { id: 'eu-central-1_abc', clientId: 'client-1' },
};
const issuer = { url: 'https://login.example.com', audience: ['computations'], membershipClaim: 'memberships' };

const canary = { everyMinutes: 15 };
const console = {};

/** Changes of a running stage's row that replace or remove a part of its own state: what it gets, and what it had. */
const changes: [string, Partial<Stage>, Partial<Stage>?][] = [
  ['an existing table', { existing: table }],
  ['an existing bucket', { existing: { contentBucketName: existing.contentBucketName } }],
  ['an existing user pool', { existing: { userPool: existing.userPool } }],
  ['an existing table, bucket and user pool', { existing }],
  ['an issuer of its own', { issuer }],
  ['no canary any more', {}, { canary }],
  ['no console any more', {}, { console }],
  ['no public client any more', {}, { publicClient: {} }],
  ['an existing bucket, with a console', { console, existing: { contentBucketName: existing.contentBucketName } }, { console }],
];

function synthesized(change: Partial<Stage> = {}): SynthesizedStage {
  const [stage] = synthesize([{ ...ownStage, ...change }]);
  if (!stage) throw new Error('There is no stage.');
  return stage;
}

/** Returns the exports of the state stack that the stacks without state import. */
function importsOf({ stacks: { service, operations, canary: canaryStack }, console: consoleStacks }: SynthesizedStage): string[] {
  const stacks = [service, operations, canaryStack, consoleStacks?.files].flatMap((stack) => stack ?? []);
  const others = [service, consoleStacks?.site].flatMap((stack) => stack?.exports ?? []);
  return importsInto(...stacks).filter((name) => !others.includes(name));
}

function importsInto(...stacks: SynthesizedStack[]): string[] {
  const text = JSON.stringify(stacks.map(({ resources }) => resources));
  return [...new Set([...text.matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name = '']) => name))];
}

describe('a stage that adopts existing state', () => {
  const adopting = synthesized({ existing });
  const { state, service, operations } = adopting.stacks;

  it('creates no table, bucket or user pool', () => {
    for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::S3::Bucket', 'AWS::Cognito::UserPool']) {
      expect(state.ofType(type)).toEqual({});
    }
  });

  it('uses the existing ones', () => {
    const functions = Object.values(
      service.ofType<{ Environment?: { Variables: Record<string, unknown> } }>('AWS::Lambda::Function'),
    );
    const variables = functions.map(({ Environment }) => Environment?.Variables ?? {});
    const tables = new Set(variables.flatMap((each) => each['TABLE_NAME'] ?? []));
    const buckets = new Set(variables.flatMap((each) => each['BUCKET_NAME'] ?? []));
    expect(tables).toEqual(new Set(['computations-restored']));
    expect(buckets).toEqual(new Set(['content-restored']));
    const [authorizer] = Object.values(service.ofType<{ JwtConfiguration: object }>('AWS::ApiGatewayV2::Authorizer'));
    expect(authorizer?.JwtConfiguration).toEqual({
      Issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc',
      Audience: ['client-1'],
    });
    expect(JSON.stringify(service.resources)).toContain('arn:aws:s3:::content-restored/content/*');
    expect(JSON.stringify(service.resources)).toContain('arn:aws:s3:::log-restored/');
    expect(JSON.stringify(service.resources)).toContain(':table/computations-restored');
    expect(JSON.stringify(operations.resources)).toContain('"Value":"computations-restored"');
  });

  it('uses the replicas of its keys that it names, and makes none in their place', () => {
    const sealingKeyArn = 'arn:aws:kms:eu-west-1:111122223333:key/mrk-1';
    const evidenceKeyArns = { 'key-1': 'arn:aws:kms:eu-west-1:111122223333:key/mrk-2' };
    const logKeyArn = 'arn:aws:kms:eu-west-1:111122223333:key/mrk-3';
    const [moved] = synthesize([{ ...ownStage, existing: { ...existing, sealingKeyArn, evidenceKeyArns, logKeyArn } }]);
    expect(moved?.stacks.state.ofType('AWS::KMS::Key')).toEqual({});
    const text = JSON.stringify(moved?.stacks.service.resources);
    for (const arn of [sealingKeyArn, evidenceKeyArns['key-1'], logKeyArn]) expect(text).toContain(arn);
  });

  it('passes cdk-nag without findings', () => {
    expect(findingsOf({ ...ownStage, existing })).toEqual([]);
  });

  it('refuses both an issuer and an existing user pool', () => {
    expect(() => synthesized({ existing, issuer })).toThrow('The stage dev has both an issuer and an existing user pool.');
  });
});

describe('a restored table', () => {
  it('gets the tags by which the budget of the stage counts, by a command of docs/restore.md', () => {
    const [table] = Object.values(synthesized().stacks.state.ofType<TableProperties>('AWS::DynamoDB::GlobalTable'));
    const tags = table?.Replicas[0]?.Tags.map(({ Key, Value }) => `Key=${Key},Value=${Value}`).join(' ');
    expect(restoring.replaceAll('<stage>', ownStage.name)).toContain(`aws dynamodb tag-resource --tags ${tags} --resource-arn`);
  });
});

describe('the console of a stage with its own user pool', () => {
  it("must have its files stack deleted before the row drops it, because that stack imports the console's pool client", () => {
    const withConsole = synthesized({ console });
    if (!withConsole.console) throw new Error('The stage has no console.');
    const { state, service } = synthesized().stacks;
    const remaining = [...state.exports, ...service.exports, ...withConsole.console.site.exports];
    const missing = importsInto(withConsole.console.files).filter((name) => !remaining.includes(name));
    expect(missing).toEqual([expect.stringContaining('UsersPoolConsole')]);
  });

  it('has an address that can be deleted when the row has dropped it', () => {
    expect(importsInto(...Object.values(synthesized().stacks)).filter((name) => name.includes('-console'))).toEqual([]);
  });
});

describe.each(changes)('a running stage whose row gets %s', (_what, change, had = {}) => {
  const before = synthesized(had);
  const after = synthesized(change);

  it('can deploy the service and the operations stack first: they import only what the state stack exports already', () => {
    expect(before.stacks.state.exports).toEqual(expect.arrayContaining(importsOf(after)));
  });

  it('can deploy the state stack next: it still exports what they import then', () => {
    expect(after.stacks.state.exports).toEqual(expect.arrayContaining(importsOf(after)));
  });

  it('cannot deploy the state stack first: an export that is in use would be removed', () => {
    const inUse = importsOf(before);
    expect(inUse.filter((name) => !after.stacks.state.exports.includes(name))).not.toEqual([]);
  });
});
