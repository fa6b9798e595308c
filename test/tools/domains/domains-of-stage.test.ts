import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { domainsOfStage } from '../../../tools/domains/domains-of-stage.ts';
import { closingOf } from '../../../tools/domains/stage-data.ts';
import { localCredentials } from '../../../local/machine/environment.ts';
import { closedAt } from '../../../shared/rows/closed-domain.ts';
import { RateLimitError } from '../../../shared/runtime/errors.ts';
import { type Bucket, DomainLimit, takeTokens } from '../../../shared/http/domain-limit.ts';
import { stageNamed } from '../../../infra/stages/stages.ts';
import { mailKeys } from '../../../shared/table/keys.ts';
import { hashOfUser } from '../../../shared/table/row-lists.ts';
import { getItem, type Table } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { type AnsweringPool, startAnsweringPool, startAnsweringStacks } from '../../support/answering-aws.ts';
import { aReadyComputation, startStores, type Stores } from '../../support/builders-store.ts';
import { itemsOf } from '../../shared/domains/filled-domain.ts';
import { testClock } from '../../support/test-clock.ts';

let stores: Stores;
let pool: AnsweringPool;
const said: string[] = [];
const stops: (() => Promise<unknown>)[] = [];
const before = { ...process.env };

beforeAll(async () => {
  stores = await startStores();
  const cloudFormation = await startAnsweringStacks(() => ({
    TableName: stores.table.name,
    ContentBucketName: 'content',
    UsersPoolId1: 'eu-central-1_1',
    UsersClientId1: 'client',
    ApiUrl1: 'https://api.example.com',
    StateMachineArn: stores.executions.stateMachineArn,
  }));
  stops.push(() => stores.stop(), cloudFormation.stop);
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: localCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localCredentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: stores.endpoints.dynamoDb,
    AWS_ENDPOINT_URL_S3: stores.endpoints.s3,
    AWS_ENDPOINT_URL_SFN: stores.endpoints.stepFunctions,
    AWS_ENDPOINT_URL_CLOUDFORMATION: cloudFormation.endpoint,
  });
});
afterAll(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
  for (const stop of stops.reverse()) await stop();
});
beforeEach(async () => {
  pool = await startAnsweringPool();
  process.env['AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER'] = pool.endpoint;
  said.length = 0;
});
afterEach(() => pool.stop());

const clock = testClock({ skipsWaits: true });
const manager = (tokensLiveInSeconds?: number) =>
  domainsOfStage('dev', { say: (line) => said.push(line), clock, tokensLiveInSeconds });

describe('the domains of a stage', () => {
  it('are groups of its user pool: a domain is made, users are invited and change their roles', async () => {
    const { create, invite, changeRoles } = await manager();
    const { created, memberships } = await create({ domain: 'd1', user: 'ada' });
    expect(memberships).toEqual(['d1:administrator']);
    expect(created).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), password: expect.stringMatching(/^Aa1-.{24}$/) });
    const bob = await invite({ domain: 'd1', user: 'bob', roles: ['creator', 'runner', 'editor'], email: 'bob@example.com' });
    expect(bob.created?.password).toBeUndefined();
    expect(bob.memberships).toEqual(['d1:creator', 'd1:runner', 'd1:editor']);
    await invite({ domain: 'd1', user: 'bob', roles: ['cvm:cvm-1'] });
    expect((await changeRoles({ domain: 'd1', user: 'bob', roles: ['viewer', 'editor'] })).memberships).toEqual([
      'd1:editor',
      'd1:viewer',
    ]);
    expect(pool.groups).toEqual(new Set(['d1:administrator', 'd1:editor', 'd1:viewer']));
    await expect(invite({ domain: 'd2', user: 'bob', roles: ['viewer'] })).rejects.toThrow(
      'has no administrator. Create it first.',
    );
    await expect(invite({ domain: 'd1', user: 'eve', roles: ['king'] })).rejects.toThrow('There is no role king.');
    expect(pool.users.has('eve')).toBe(false);
  });

  it('keep their last administrator, also one who is named by an e-mail address', async () => {
    const { create, invite, changeRoles } = await manager();
    await create({ domain: 'd1', user: 'ada' });
    pool.aliases.set('ada@example.com', 'ada');
    for (const user of ['ada', 'ada@example.com']) {
      await expect(changeRoles({ domain: 'd1', user, roles: [] })).rejects.toThrow('is the last administrator of d1');
    }
    await invite({ domain: 'd1', user: 'bob', roles: ['administrator'] });
    expect((await changeRoles({ domain: 'd1', user: 'ada@example.com', roles: ['viewer'] })).memberships).toEqual(['d1:viewer']);
  });

  it('keep no address for mail of a user who has left, who is deleted, or whose issuer is another', async () => {
    const wish = (user: string) => mailKeys.wish('d3', hashOfUser(user));
    const wants = (user: string) => putItem(stores.table, { ...wish(user), user_id: user, address: 'sealed' });
    const isKept = async (user: string) => (await getItem(stores.table, wish(user))) !== undefined;
    const { create, invite, changeRoles } = await manager();
    await create({ domain: 'd3', user: 'ada' });
    const id = (await invite({ domain: 'd3', user: 'bob', roles: ['viewer'] })).created?.id ?? '';
    await Promise.all([id, 'deleted', 'elsewhere'].map(wants));
    await changeRoles({ domain: 'd3', user: 'bob', roles: [] });
    const deleted = { domain: 'd3', user: 'deleted', roles: [] };
    await expect(changeRoles({ ...deleted, roles: ['viewer'] })).rejects.toThrow('There is no user deleted.');
    expect(await isKept('deleted')).toBe(true);
    await expect(changeRoles(deleted)).rejects.toThrow('There is no user deleted.');
    expect([await isKept(id), await isKept('deleted')]).toEqual([false, false]);

    const stage = stageNamed('dev');
    try {
      Object.assign(stage, { issuer: { url: 'https://issuer.example.com', audiences: ['cms'] } });
      const ofIssuer = await manager();
      const leaving = { domain: 'd3', user: 'elsewhere', roles: [] };
      await expect(ofIssuer.changeRoles({ ...leaving, roles: ['viewer'] })).rejects.toThrow('has an issuer of its own');
      expect(await isKept('elsewhere')).toBe(true);
      expect(await ofIssuer.changeRoles(leaving)).toEqual({
        memberships: [],
        note: 'No address for mail of the user elsewhere is kept. Take the memberships of d3 away at the issuer.',
      });
      expect(await isKept('elsewhere')).toBe(false);
    } finally {
      Reflect.deleteProperty(stage, 'issuer');
    }
  });

  it('meet the limits of Cognito with an advice', async () => {
    pool.mostGroups = 1;
    const { create, invite } = await manager();
    await create({ domain: 'd1', user: 'ada' });
    await expect(invite({ domain: 'd1', user: 'bob', roles: ['viewer'] })).rejects.toThrow('docs/domains.md#limits-of-cognito');
  });

  it('are removed at once, stay closed while tokens live, and are open when the removal is repeated after that', async () => {
    const { create, invite, remove, look } = await manager();
    await create({ domain: 'd1-x', user: 'bob' });
    await create({ domain: 'd1', user: 'ada' });
    await invite({ domain: 'd1', user: 'bob', roles: ['viewer', 'runner'] });
    await aReadyComputation(stores, 'd1-x');
    const untouched = await itemsOf(stores.table);
    await aReadyComputation(stores, 'd1');

    const first = await remove('d1', { stop: false, wait: false });
    expect(first).toMatchObject({
      items: { computations: 1, assets: 1 },
      content: { objects: 1 },
      users: { users: 1, roles: 3 },
    });
    const closed = (await closedAt(stores.table, 'd1', clock.now())) ?? 0;
    expect(first.repeatAfter).toBe(new Date(closed + 45_000 + 3_600_000).toISOString());
    expect(said).toContainEqual(
      expect.stringMatching(/^Waiting until .*: requests that came before may still change something\.$/),
    );
    expect(pool.users).toEqual(new Map([['bob', new Set(['d1-x:administrator'])]]));
    expect(pool.groups).toEqual(new Set(['d1-x:administrator']));
    expect(pool.signedOut).toEqual(['bob', 'bob']);
    const bucket: Bucket = { perSecond: 50, burst: 500 };
    const limit = new DomainLimit<Table>(bucket, (table, taking) => takeTokens(table, bucket, taking));
    const refusal = limit.admit(stores.table, { domain: 'd1', user: 'ada', now: clock.now() + 3_600_000 });
    await expect(refusal).rejects.toBeInstanceOf(RateLimitError);
    await expect(refusal).rejects.toThrow('The domain d1 is being removed.');
    await limit.admit({ ...stores.table }, { domain: 'd1-y', user: 'ada', now: clock.now() });
    await expect(create({ domain: 'd1', user: 'eve' })).rejects.toThrow('is being removed');

    await aReadyComputation(stores, 'd1'); // a change that the limit did not catch
    await clock.wait(3_700_000);
    const second = await remove('d1', { stop: false, wait: false });
    expect(second).toMatchObject({ items: { computations: 1 }, users: { users: 0, roles: 0 } });
    expect(second.repeatAfter).toBeUndefined();
    expect(await closedAt(stores.table, 'd1', clock.now())).toBeUndefined();
    expect(Object.values((await look('d1')).items).every((count) => count === 0)).toBe(true);
    const { ['limit#d1-y changes']: _, ...left } = await itemsOf(stores.table);
    expect(left).toEqual(untouched);

    await create({ domain: 'd1', user: 'eve' });
    const awaited = await remove('d1', { stop: false, wait: true });
    expect([awaited.users, awaited.repeatAfter]).toEqual([{ users: 1, roles: 1 }, undefined]);
    expect(await closedAt(stores.table, 'd1', clock.now())).toBeUndefined();
  });

  it('wait again until tokens expire, in a removal that begins long after an incomplete one', async () => {
    const { create, remove } = await manager();
    await create({ domain: 'd2', user: 'ada' });
    await remove('d2', { stop: false, wait: false });
    const bucket: Bucket = { perSecond: 50, burst: 500 };
    await clock.wait(8 * 24 * 3_600_000);
    expect(await takeTokens(stores.table, bucket, { domain: 'd2', user: 'ada', tokens: 1, now: clock.now() })).toMatchObject({
      isRefused: false,
    });
    const start = clock.now();
    const { repeatAfter } = await remove('d2', { stop: false, wait: false });
    expect(Date.parse(repeatAfter ?? '')).toBeGreaterThanOrEqual(start + 45_000 + 3_600_000);
  });

  it('wait as long as tokens live before the data goes, in a stage without a limit of changes', () => {
    const minute = 60_000;
    const withLimit = closingOf(0, { hasLimit: true, tokensLiveInSeconds: 12 * 3_600 });
    expect(withLimit).toEqual({ changesEndAt: 0.75 * minute, isOverAt: 720 * minute });
    const without = closingOf(0, { hasLimit: false, tokensLiveInSeconds: 3_600 });
    expect(without).toEqual({ changesEndAt: 60.75 * minute, isOverAt: 120.75 * minute });
  });

  it('of an unknown stage are refused', async () => {
    await expect(domainsOfStage('nowhere', { say: () => undefined })).rejects.toThrow('expected one of dev staging prod');
  });
});
