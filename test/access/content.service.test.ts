import { createHash, randomUUID } from 'node:crypto';
import type { Role } from 'computation-management-formats/vocabulary';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import type { Route } from '../../shared/http/route.ts';
import { callAs, publicKey, readyComputation, type Call } from '../support/ready-computation.ts';
import { untilTestEnds } from '../support/patience.ts';
import { actionsOf } from './decisions.ts';

const allRoles = Object.keys(actionsOf) as Role[];
const accesses = ['creator', 'domain'] as const;
const cases = allRoles.flatMap((role) => [true, false].map((isCreator) => ({ role, isCreator })));
const mayView = (role: Role) => actionsOf[role].split(' ').includes('view');

let stack: Stack;
/** The creator of every asset, whose token has every role. */
let bySomeone: Call;
const someone = 'someone';
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  bySomeone = await as(someone, allRoles);
});
afterAll(() => stack.stop());

async function as(sub: string, roles: Role[]): Promise<Call> {
  return callAs(
    stack.baseUrl,
    await stack.token(
      sub,
      roles.map((role) => `d1:${role}`),
    ),
  );
}

const content = Buffer.from('Nobody else may see this.').toString('base64');
const sha3 = (text: string) => createHash('sha3-256').update(text).digest('hex');

const given = { file_name: 'a.csv', description: '', asset_type: 'dataset', mime_type: 'text/csv' };

async function anAsset(fields: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { status, body } = await bySomeone('POST', '/d1/assets', { asset: { ...given, ...fields } });
  expect(status).toBe(201);
  return body;
}

/** Waits until a run has ended that its CVM, which has the computation's name, reports as failed. Returns the run's identifier. */
async function ended(computation: string, run: string): Promise<string> {
  const report = { id: '1', run_id: run, type: 'event', event_type: 'Failed', status: 'Failed' };
  await bySomeone('POST', `/d1/cvms/${computation}/reports`, { reports: [report] });
  const isOver = async () => (await bySomeone('GET', `/d1/computations/${computation}/run`)).body['status'] === 'failed';
  await vi.waitUntil(isOver, untilTestEnds);
  return run;
}

describe.each(accesses)('content whose content_access is %s', (content_access) => {
  it.each(cases)('goes to the role $role or not (creator of the asset: $isCreator)', async (each) => {
    const { id } = await anAsset({ asset: content, content_access });
    const call = await as(each.isCreator ? someone : 'another', [each.role]);
    const { status, body } = await call('GET', `/d1/assets/${String(id)}`);
    if (!mayView(each.role)) {
      expect({ status, body }).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(JSON.stringify(body)).not.toContain(content);
      return;
    }
    const isGiven = each.isCreator || content_access === 'domain';
    expect({ status, content: body['asset'], withheld: body['content_withheld'] }).toEqual({
      status: 200,
      content: isGiven ? content : undefined,
      withheld: isGiven ? undefined : true,
    });
    expect(body).toMatchObject({ size: 25, checksum: sha3('Nobody else may see this.'), content_access });
    expect(body['content_reads']).toEqual(each.isCreator ? [] : undefined);
  });
});

describe('content above the inline limit', () => {
  it('is downloaded by its creator, and by others only while it is open to the domain', async () => {
    const created = await anAsset({});
    const path = `/d1/assets/${String(created['id'])}`;
    const { method, url, headers } = created['upload'] as { method: string; url: string; headers: Record<string, string> };
    const large = Buffer.alloc(4 * 1024 * 1024 + 1, 'x');
    expect((await fetch(url, { method, headers, body: large })).ok).toBe(true);
    await vi.waitUntil(async () => (await bySomeone('GET', path)).body['state'] === 'ready', untilTestEnds);
    const others = await Promise.all([as('admin', ['administrator']), as('another', ['viewer']), as('cvm', ['cvm', 'viewer'])]);
    const open = (content_access: string) => bySomeone('PUT', path, { asset: { ...given, content_access } });

    for (const content_access of ['creator', 'domain', 'creator']) {
      expect((await open(content_access)).status).toBe(200);
      for (const call of [bySomeone, ...others]) {
        const { status, body } = await call('GET', path);
        const isGiven = call === bySomeone || content_access === 'domain';
        const withheld = isGiven ? undefined : true;
        expect([status, body['size'], body['asset'], body['content_withheld']]).toEqual([200, large.length, undefined, withheld]);
        expect(body['download'] !== undefined).toBe(isGiven);
        expect(JSON.stringify(body).includes('X-Amz-Signature')).toBe(isGiven);
        const { url = '' } = (body['download'] ?? {}) as { url?: string };
        if (isGiven) expect((await fetch(url, { method: 'GET' })).headers.get('content-length')).toBe(String(large.length));
      }
    }
  });
});

describe('a change of what belongs to the creator of an asset', () => {
  const ofTheCreator = {
    content_access: () => 'domain',
    user_key: publicKey,
    checksum: () => sha3(randomUUID()),
    asset: () => Buffer.from(randomUUID()).toString('base64'),
  };

  it.each(cases)(
    'is allowed to the role $role or not as docs/contract.md says (creator of the asset: $isCreator)',
    async (each) => {
      const { id } = await anAsset({ user_key: publicKey() });
      const call = await as(each.isCreator ? someone : 'another', [each.role]);
      const mayChange = each.isCreator || each.role === 'administrator';
      const put = (fields: Record<string, unknown>) =>
        call('PUT', `/d1/assets/${String(id)}`, { asset: { ...given, ...fields } });

      const described = await put({ description: 'Changed' });
      expect(described.status).toBe(mayChange ? 200 : 403);
      expect(described.body['upload'] !== undefined).toBe(each.isCreator);
      for (const [field, value] of Object.entries(ofTheCreator)) {
        const { status, body } = await put({ [field]: value() });
        expect([field, status]).toEqual([field, each.isCreator ? 200 : 403]);
        if (mayChange && !each.isCreator) {
          expect(body).toMatchObject({ detail: `Only the creator of the asset may change \`${field}\`.` });
        }
      }
      const { body } = await bySomeone('GET', `/d1/assets/${String(id)}`);
      expect([body['state'], body['content_access']]).toEqual(each.isCreator ? ['ready', 'domain'] : ['pending', 'creator']);
    },
  );

  it('is allowed to an administrator who repeats the values', async () => {
    const { id, user_key } = await anAsset({ user_key: publicKey(), asset: content });
    const same = { user_key, content_access: 'creator', checksum: sha3('Nobody else may see this.'), asset: content };
    const call = await as('another', ['administrator']);
    const { status, body } = await call('PUT', `/d1/assets/${String(id)}`, {
      asset: { ...given, ...same, description: 'Changed' },
    });
    expect({ status, body }).toMatchObject({ status: 200, body: { description: 'Changed', user_key } });
  });

  it('names every such field that an administrator tried to change', async () => {
    const { id } = await anAsset({ user_key: publicKey(), asset: content });
    const call = await as('another', ['administrator']);
    const asset = { ...given, user_key: '', content_access: 'domain' };
    expect(await call('PUT', `/d1/assets/${String(id)}`, { asset })).toMatchObject({
      status: 403,
      body: {
        code: 'forbidden',
        detail: 'Only the creator of the asset may change `content_access`, `user_key`.',
        errors: [{ pointer: '/asset/content_access' }, { pointer: '/asset/user_key' }],
      },
    });
  });
});

/** The refusals of endpoints that answer nobody but the creator, or nothing about a run without a review. */
const refusals: Record<string, number> = { 'assets/get-asset-key': 403, 'results/get-result': 409 };

describe('content that is its creator’s', () => {
  const reading = (routes as readonly Route[]).filter(
    ({ method, access, name }) => access && method === 'GET' && name !== 'runs/stop-run' && name !== 'logs/read-logs',
  );

  /** Makes an asset, and a computation that uses it and has an active run. */
  const running = async () => {
    const { id: asset } = await anAsset({ asset: content });
    const computation = await readyComputation(bySomeone);
    await bySomeone('POST', `/d1/assets/${String(asset)}/${computation}`);
    const run = await bySomeone('POST', `/d1/computations/${computation}/run?cvm=${computation}`);
    expect(run.status).toBe(200);
    expect((await bySomeone('PUT', `/d1/cvms/${computation}`, { description: '' })).status).toBe(201);
    return { asset, computation, runId: run.body as unknown as string };
  };
  let shared: ReturnType<typeof running> | undefined;

  it.each([...reading, ...(routes as readonly Route[]).filter(({ name }) => name === 'runs/dry-run')])(
    'is in no answer to others: $method $path',
    async ({ method, path, name }) => {
      const { asset, computation, runId } = await (name === 'evidence/get-evidence' ? running() : (shared ??= running()));
      const query =
        name === 'evidence/get-evidence'
          ? `?run=${await ended(computation, runId)}`
          : name === 'results/get-result'
            ? `?run=${runId}`
            : name === 'find/find'
              ? '?q=penguins'
              : '';
      const ids: Record<string, string> = {
        domainID: 'd1',
        cvmID: computation,
        id: path.includes('/assets/') ? String(asset) : computation,
      };
      const call = await as('another', allRoles);
      const address = path.replace(/\{(\w+)\}/g, (_, parameter: string) => ids[parameter] ?? '') + query;
      const { status, body } = await vi.waitFor(async () => {
        const answer = await call(method, address);
        expect(answer.body['reason']).not.toBe('log_pending');
        return answer;
      }, untilTestEnds);
      expect([name, status]).toEqual([name, refusals[name] ?? 200]);
      expect(JSON.stringify(body)).not.toContain(content);
      expect(JSON.stringify(body)).not.toContain('X-Amz-Signature');
      expect(JSON.stringify(body)).not.toContain('content/inline');
    },
  );
});
