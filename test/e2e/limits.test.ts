import { createPublicKey, randomBytes, randomUUID } from 'node:crypto';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { beforeAll, describe, expect, it } from 'vitest';
import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { base64, newCvm, useSession } from '../support/session.ts';

const session = useSession();
const kibibyte = 1024;
const asset = (fields: Record<string, unknown>) => ({ asset: { file_name: 'x.csv', asset_type: 'dataset', ...fields } });

/** Pads JSON with blanks to the given number of bytes. */
const padded = (body: unknown, bytes: number) => JSON.stringify(body).padEnd(bytes, ' ');

describe('a request body without content', () => {
  const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
  const path = { id: absent, cvmID: newCvm() };
  const names = routes.flatMap((route) => ('body' in route && !('bodyLimit' in route) ? [route.name] : []));
  const send = async (name: RouteName, bytes: number) => {
    const as = name === 'cvms/report' ? ('cvm' as const) : ('administrator' as const);
    const { status, code } = await session.refused(name, { path, raw: padded({ x: 1 }, bytes), as } as never);
    return { status, code };
  };

  it.each(names)('of %s is accepted up to 256 KiB, and answered with 413 beyond', async (name) => {
    const taken = name === 'releases/auth' ? { status: 401, code: 'unauthenticated' } : { status: 400, code: 'invalid_request' };
    expect(await send(name, 256 * kibibyte)).toEqual(taken);
    expect(await send(name, 256 * kibibyte + 1)).toEqual({ status: 413, code: 'too_large' });
  });

  it('of an asset, which may have content, likewise', async () => {
    const raw = (bytes: number) => padded(asset({}), bytes);
    expect((await session.call('assets/create-asset', { raw: raw(256 * kibibyte) })).status).toBe(201);
    const { id } = await session.createAsset({});
    for (const [name, ids] of [
      ['assets/create-asset', {}],
      ['assets/update-asset', { id }],
    ] as const) {
      const refused = await session.refused(name, { path: ids, raw: raw(256 * kibibyte + 1) } as never);
      expect(refused).toMatchObject({ status: 413, code: 'too_large' });
    }
  });
});

describe('the fields of a computation', () => {
  const create = 'computations/create-computation';

  it.each(['cert_file', 'server_key', 'server_ca_file', 'client_ca_file'])('%s holds 16 KiB, counted in UTF-8', async (field) => {
    const ofBytes = (bytes: number) => ({ name: 'N', agent_config: { [field]: 'é'.repeat(bytes / 2) } });
    expect((await session.call(create, { body: ofBytes(16 * kibibyte) })).status).toBe(201);
    const { status, errors } = await session.refused(create, { body: ofBytes(16 * kibibyte + 2) });
    expect([status, errors?.[0]?.pointer]).toEqual([400, `/agent_config/${field}`]);
    const emojis = { name: 'N', agent_config: { [field]: '🔑'.repeat(16 * kibibyte) } };
    expect((await session.refused(create, { body: emojis })).status).toBe(400);
  });
});

describe('the identifier of a user', () => {
  const create = 'computations/create-computation';
  const longest = `${'é'.repeat(127)}x`; // 255 bytes
  const tooLong = 'é'.repeat(255);
  const detail = 'Expected at most 255 bytes in UTF-8.';

  it.each([
    ['consumers', '/consumers/0', (user: string) => ({ consumers: [user] })],
    ['providers', '/providers/0', (user: string) => ({ providers: [user] })],
    ['owner', '/owner', (user: string) => ({ owner: user })],
    [
      'result_review.reviewers',
      '/result_review/reviewers/0',
      (user: string) => ({ consumers: ['carol'], result_review: { reviewers: [user], needed: 1 } }),
    ],
  ])('in %s has up to 255 bytes in UTF-8', async (_, pointer, fieldsOf) => {
    const { id } = await session.createComputation(fieldsOf(longest));
    const body = { name: 'N', ...fieldsOf(tooLong) };
    const invalid = { status: 400, code: 'invalid_request', errors: [{ pointer, detail }] };
    expect(await session.refused(create, { body })).toMatchObject(invalid);
    expect(await session.refused('computations/update-computation', { path: { id }, body })).toMatchObject(invalid);
  });

  it('whose key is removed has up to 255 bytes in UTF-8', async () => {
    const path = { id: await session.someComputation() };
    expect((await session.call('keys/remove-key', { path, query: { user: longest } })).status).toBe(204);
    expect(await session.refused('keys/remove-key', { path, query: { user: tooLong } })).toMatchObject({
      status: 400,
      code: 'invalid_request',
      errors: [{ pointer: 'query/user', detail }],
    });
  });
});

describe('a computation with an algorithm and 100 datasets', () => {
  /** A public key of 8,192 bits. Only its form matters here. One in ten has no small factor, so that the service takes it. */
  const largeKey = (): string => {
    const modulus = Buffer.concat([Buffer.of(0x81), randomBytes(1022), Buffer.of(0x81)]);
    const key = createPublicKey({ key: { kty: 'RSA', n: modulus.toString('base64url'), e: 'AQAB' }, format: 'jwk' });
    const given = base64(key.export({ format: 'pem', type: 'spki' }).toString());
    try {
      parsePublicKey(given);
      return given;
    } catch {
      return largeKey();
    }
  };

  const field = '漢'.repeat((16 * kibibyte) / 3);
  const agent_config = { cert_file: field, server_key: field, server_ca_file: field, client_ca_file: field };
  let id: string;
  let datasets: string[] = [];
  beforeAll(async () => {
    id = await session.readyComputation();
    const user_key = largeKey();
    const make = (_: unknown, at: number) => session.createAsset({ file_name: `${'🐧'.repeat(63)}${at + 100}`, user_key });
    datasets = (await Promise.all(Array.from({ length: 100 }, make))).map((dataset) => dataset.id);
    for (const dataset of datasets) await session.link(dataset, id);
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Largest', agent_config } });
  });

  it('starts with the largest manifest and the largest agent_config, and its CVM gets both complete', async () => {
    const manifest = await session.done('runs/get-manifest', { path: { id } });
    expect(Buffer.byteLength(JSON.stringify(manifest))).toBeGreaterThan(150 * kibibyte);
    const cvm = newCvm();
    await session.startRun(id, cvm);
    expect(await session.commandFor(cvm, 'run')).toMatchObject({ manifest, agent_config });
    await session.endRun(cvm);
  });

  it('answers 413 to another dataset until one is unlinked, and 200 to one that it has', async () => {
    const more = await session.createAsset();
    const link = (asset: string) => session.call('assets/link-asset', { path: { id: asset, computationID: id } });
    expect(await link(more.id)).toMatchObject({ status: 413, body: { code: 'too_large' } });
    const [first = ''] = datasets;
    expect((await link(first)).status).toBe(200);

    await session.done('assets/unlink-asset', { path: { id: first, computationID: id } });
    expect((await link(more.id)).status).toBe(200);
    const { assets } = await session.done('computations/get-computation', { path: { id } });
    expect(assets).toHaveLength(101);
  });
});

describe('the fields of an asset', () => {
  const create = 'assets/create-asset';

  it('hold a file name of 255 bytes and a description of 4,000 characters', async () => {
    const longest = { file_name: `${'🐧'.repeat(63)}.md`, description: 'ש'.repeat(4_000) };
    expect(await session.createAsset(longest)).toMatchObject(longest);
    const { status, errors } = await session.refused(create, { body: asset({ description: 'x'.repeat(4_001) }) });
    expect([status, errors?.[0]?.pointer]).toEqual([400, '/asset/description']);
  });
});

describe('an asset', () => {
  it('that is linked to more than 30 computations answers 409 to a new name, and takes other changes', async () => {
    const { id, file_name } = await session.createAsset();
    const update = 'assets/update-asset';
    const computations = await Promise.all(Array.from({ length: 31 }, () => session.createComputation()));
    for (const computation of computations.slice(1)) await session.link(id, computation.id);
    const renamed = await session.done(update, { path: { id }, body: asset({ file_name: 'renamed.csv' }) });
    expect(renamed.file_name).toBe('renamed.csv');

    await session.link(id, computations[0]?.id ?? '');
    const refused = await session.refused(update, { path: { id }, body: asset({ file_name }) });
    expect(refused).toMatchObject({ status: 409, code: 'conflict', reason: 'linked_too_widely' });
    const described = await session.done(update, {
      path: { id },
      body: asset({ file_name: 'renamed.csv', description: 'D', asset: base64('new') }),
    });
    expect(described).toMatchObject({ file_name: 'renamed.csv', description: 'D', size: 3 });
  });
});

describe('a listing', () => {
  it.each(['computations/list-computations', 'assets/list-assets', 'runs/list-runs'] as const)(
    '%s answers the largest offset with an empty page, and 400 to one more',
    async (name) => {
      const page: object = await session.done(name, { query: { limit: 100, offset: '9007199254740991' } });
      expect(page).toMatchObject({ limit: 100, offset: Number.MAX_SAFE_INTEGER });
      expect(Object.values(page)).toContainEqual([]);
      const { status, errors } = await session.refused(name, { query: { offset: '9007199254740992' } });
      expect([status, errors?.[0]?.pointer]).toEqual([400, 'query/offset']);
    },
  );

  it.each(['computations/list-computations', 'assets/list-assets', 'runs/list-runs'] as const)(
    '%s takes limits of 1 and of 100',
    async (name) => {
      for (const limit of [1, 100]) {
        const page = await session.done(name, { query: { limit } });
        expect(page).toMatchObject({ limit, offset: 0 });
      }
      const { status, errors } = await session.refused(name, { query: { limit: 101 } });
      expect([status, errors?.[0]?.pointer]).toEqual([400, 'query/limit']);
    },
  );
});

describe('a batch of reports', () => {
  it('has up to 50, whose details hold up to 32 KiB each', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    const heartbeats = Array.from({ length: 50 }, () => ({ id: randomUUID(), run_id, type: 'heartbeat' }));
    expect(await session.report(cvm, ...heartbeats)).toMatchObject({ accepted: 50, duplicates: 0 });

    const event = (bytes: number) => ({
      run_id,
      type: 'event',
      event_type: 'Running',
      status: 'InProgress',
      details: Buffer.alloc(bytes, 7).toString('base64'),
    });
    await session.report(cvm, event(32 * kibibyte));
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'Running' } });
    expect(events.map(({ details }) => Buffer.from(details, 'base64').length)).toEqual([32 * kibibyte]);
    const { results } = await session.report(cvm, event(33 * kibibyte));
    expect(results).toMatchObject([{ outcome: 'invalid', detail: '/details: Expected at most 32 KiB.' }]);
    await session.report(cvm, { run_id, type: 'event', event_type: 'Complete', status: 'Completed' });
    await session.untilStatus(id, 'completed');
  });
});
