import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';
import type { CallRequest, Reply } from '../support/client.ts';
import { base64, itAs, newCvm, useSession } from '../support/session.ts';
import type { Person } from '../support/target.ts';
import { privateKey } from '../support/suite-state.ts';

const session = useSession();
const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
const stale = '"of-an-earlier-state"';

const etagOf = ({ headers }: Reply) => headers.get('etag') ?? '';
const getComputation = (id: string, headers: Record<string, string> = {}) =>
  session.call('computations/get-computation', { path: { id }, headers });
const getAsset = (id: string, headers: Record<string, string> = {}) =>
  session.call('assets/get-asset', { path: { id }, headers });
const dataset = (fields: Record<string, unknown> = {}) => ({
  asset: { file_name: 'd.csv', asset_type: 'dataset', ...fields },
});

/** The requests that change a resource, with a body that is valid. */
const changes = [
  ['computations/update-computation', { name: 'Changed' }],
  ['computations/delete-computation', undefined],
  ['assets/update-asset', dataset()],
  ['assets/delete-asset', undefined],
] as const satisfies [RouteName, unknown][];
type Change = (typeof changes)[number][0];

const resourceFor = async (name: Change) =>
  name.startsWith('assets/') ? await session.createAsset() : await session.createComputation();
const read = (name: Change, id: string) => (name.startsWith('assets/') ? getAsset(id) : getComputation(id));
const change = (name: Change, id: string, ifMatch: string, rest: Partial<CallRequest<Change>> = {}) =>
  session.call(name, {
    path: { id },
    body: changes.find(([other]) => other === name)?.[1],
    ...rest,
    headers: { 'if-match': ifMatch, ...rest.headers },
  });
const codeOf = ({ status, body }: Reply) => [status, (body as { code?: string } | undefined)?.code];

describe('the ETag of a computation', () => {
  it('is strong and the same in the answers of endpoints 1, 3 and 4 for the same state', async () => {
    const created = await session.call('computations/create-computation', {
      body: { name: 'N', agent_config: { cert_file: 'c' } },
    });
    const { id } = created.body as { id: string };
    expect(etagOf(created)).toMatch(/^"[!#-~]+"$/);
    expect(etagOf(await getComputation(id))).toBe(etagOf(created));
    const updated = await session.call('computations/update-computation', { path: { id }, body: { name: 'M' } });
    expect(etagOf(updated)).not.toBe(etagOf(created));
    expect(etagOf(await getComputation(id))).toBe(etagOf(updated));
    const repeated = await session.call('computations/update-computation', { path: { id }, body: { name: 'M' } });
    expect(etagOf(repeated)).toBe(etagOf(updated));
  });

  it('changes with the configuration, the links and the run', async () => {
    const id = await session.readyComputation();
    const cvm = newCvm();
    const etags = [etagOf(await getComputation(id))];
    const noteAfter = async (act: () => Promise<unknown>) => {
      await act();
      etags.push(etagOf(await getComputation(id)));
    };
    const body = { name: 'N', agent_config: { log_level: 'debug' } };
    await noteAfter(() => session.done('computations/update-computation', { path: { id }, body }));
    await noteAfter(async () => session.link((await session.createAsset()).id, id));
    await noteAfter(() => session.startRun(id, cvm));
    const { id: command_id, run_id } = await session.commandFor(cvm, 'run');
    await session.report(cvm, { run_id, type: 'accepted', command_id });
    await noteAfter(() => session.done('runs/stop-run', { path: { id } }));
    await noteAfter(async () => {
      await session.report(cvm, { run_id, type: 'event', event_type: 'Stopped', status: 'Stopped' });
      await session.untilStatus(id, 'cancelled');
    });
    expect(new Set(etags).size).toBe(6);
  });

  itAs(['viewer', 'editor'], 'belongs to what the caller sees: editors share one, and a viewer has another', async () => {
    const { id } = await session.createComputation({ agent_config: { server_key: privateKey() } });
    const as = async (person: Person) => etagOf(await session.call('computations/get-computation', { path: { id }, as: person }));
    expect(await as('editor')).toBe(await as('administrator'));
    expect(await as('viewer')).not.toBe(await as('editor'));
    expect(codeOf(await change('computations/update-computation', id, await as('viewer')))).toEqual([412, 'precondition_failed']);
    const answer = await change('computations/update-computation', id, await as('editor'), { as: 'editor' });
    expect(answer.status).toBe(200);
  });

  it('of the row alone lets a change through while nothing has changed, even what the row does not show', async () => {
    const { id } = await session.createComputation();
    const peek = () => session.call('computations/get-computation', { path: { id }, query: { peek: true } });
    const etag = etagOf(await peek());
    expect(etag).not.toBe(etagOf(await getComputation(id)));
    await session.link((await session.createAsset()).id, id);
    expect(codeOf(await change('computations/update-computation', id, etag))).toEqual([412, 'precondition_failed']);
    expect((await change('computations/update-computation', id, etagOf(await peek()))).status).toBe(200);
  });
});

describe('the ETag of an asset', () => {
  it('is strong and the same in the answers of endpoints 15, 17 and 18 for the same state', async () => {
    const created = await session.call('assets/create-asset', { body: dataset({ asset: base64('a') }) });
    const { id } = created.body as { id: string };
    expect(etagOf(created)).toMatch(/^"[!#-~]+"$/);
    expect(etagOf(await getAsset(id))).toBe(etagOf(created));
    const updated = await session.call('assets/update-asset', { path: { id }, body: dataset({ asset: base64('b') }) });
    expect(etagOf(updated)).not.toBe(etagOf(created));
    expect(etagOf(await getAsset(id))).toBe(etagOf(updated));
  });

  it('does not depend on the presigned upload, and changes when the content has arrived', async () => {
    const created = await session.call('assets/create-asset', { body: dataset() });
    const { id, upload } = created.body as Awaited<ReturnType<typeof session.createAsset>>;
    expect(etagOf(await getAsset(id))).toBe(etagOf(created));
    const updated = await change('assets/update-asset', id, etagOf(created));
    expect(updated.body).toHaveProperty('upload');
    expect(etagOf(await getAsset(id))).toBe(etagOf(updated));
    if (!upload) throw new Error('There is no upload.');
    await fetch(upload.url, { method: upload.method, headers: upload.headers, body: 'a' });
    await expect.poll(async () => (await session.done('assets/get-asset', { path: { id } })).state).toBe('ready');
    expect(etagOf(await getAsset(id))).not.toBe(etagOf(updated));
    expect(codeOf(await change('assets/update-asset', id, etagOf(updated)))).toEqual([412, 'precondition_failed']);
  });
});

describe('the ETag of an asset whose content others read', () => {
  const opened = () => session.createAsset({ content_access: 'domain' });
  const readAs = (person: Person, id: string, headers: Record<string, string> = {}) =>
    session.call('assets/get-asset', { path: { id }, headers, as: person });
  const readersOf = async (id: string) => (await session.done('assets/get-asset', { path: { id } })).content_reads;

  itAs(['viewer'], 'changes for the creator with every read, and stays for others and in the answer of a PUT', async () => {
    const { id } = await opened();
    const etags = [etagOf(await getAsset(id))];
    for (let reads = 1; reads <= 2; reads++) {
      expect(etagOf(await readAs('viewer', id))).toBe(etags[0]);
      const reply = await getAsset(id, { 'if-none-match': etags.join(', ') });
      expect(reply.status).toBe(200);
      expect((reply.body as { content_reads: unknown[] }).content_reads).toHaveLength(reads);
      etags.push(etagOf(reply));
      expect((await getAsset(id, { 'if-none-match': etagOf(reply) })).status).toBe(304);
    }
    expect(new Set(etags).size).toBe(3);
    const updated = await session.call('assets/update-asset', { path: { id }, body: dataset({ description: 'D' }) });
    expect(etagOf(await readAs('viewer', id))).toBe(etagOf(updated));
  });

  itAs(['viewer'], 'lets a PUT or DELETE through with any of the ETags that the creator received for this state', async () => {
    for (const name of ['assets/update-asset', 'assets/delete-asset'] as const) {
      for (const nth of [0, 1, 2]) {
        const { id } = await opened();
        const etags: string[] = [];
        for (let reads = 0; reads <= 2; reads++) {
          if (reads > 0) await readAs('viewer', id);
          etags.push(etagOf(await getAsset(id)));
        }
        expect((await change(name, id, etags[nth] ?? '')).status).toBeLessThan(300);
        if (name === 'assets/update-asset') {
          for (const etag of etags) expect(codeOf(await change(name, id, etag))).toEqual([412, 'precondition_failed']);
        }
      }
    }
  });

  itAs(['viewer'], 'leads to 304 for a reader who has the content, which is not recorded as a read', async () => {
    const { id } = await opened();
    const etag = etagOf(await readAs('viewer', id));
    for (const value of [etag, '*']) expect((await readAs('viewer', id, { 'if-none-match': value })).status).toBe(304);
    expect(await readersOf(id)).toHaveLength(1);
    expect((await readAs('viewer', id, { 'if-none-match': stale })).status).toBe(200);
    expect(await readersOf(id)).toHaveLength(2);
  });

  itAs(['viewer'], 'changes for others when the content is opened or withheld', async () => {
    const { id } = await session.createAsset();
    const withheld = await readAs('viewer', id);
    expect(withheld.body).toMatchObject({ content_withheld: true });
    expect((await readAs('viewer', id, { 'if-none-match': etagOf(withheld) })).status).toBe(304);
    await session.done('assets/update-asset', { path: { id }, body: dataset({ content_access: 'domain' }) });
    const given = await readAs('viewer', id, { 'if-none-match': etagOf(withheld) });
    expect(given).toMatchObject({ status: 200, body: { asset: expect.any(String) as string } });
    await session.done('assets/update-asset', { path: { id }, body: dataset({ content_access: 'creator' }) });
    expect(await readAs('viewer', id, { 'if-none-match': etagOf(given) })).toMatchObject({
      status: 200,
      body: { content_withheld: true },
    });
  });
});

describe('If-None-Match', () => {
  let computation: string;
  let asset: string;
  beforeAll(async () => {
    computation = (await session.createComputation()).id;
    asset = (await session.createAsset()).id;
  });
  const gets: [string, (headers?: Record<string, string>) => Promise<Reply>][] = [
    ['a computation', (headers) => getComputation(computation, headers)],
    [
      'the row of a computation',
      (headers = {}) =>
        session.call('computations/get-computation', { path: { id: computation }, query: { peek: true }, headers }),
    ],
    ['an asset', (headers) => getAsset(asset, headers)],
  ];

  it.each(gets)('is answered with 304, the ETag and no body while the ETag of %s is current', async (_what, get) => {
    const etag = etagOf(await get());
    for (const value of [etag, `"x", ${etag}`, `W/${etag}`, '*']) {
      const reply = await get({ 'if-none-match': value });
      expect([value, reply.status, etagOf(reply), reply.body]).toEqual([value, 304, etag, undefined]);
    }
    expect((await get({ 'if-none-match': `"x", W/"y"` })).status).toBe(200);
  });

  it('is answered with the new state after a change', async () => {
    const { id } = await session.createComputation();
    const etag = etagOf(await getComputation(id));
    await session.done('computations/update-computation', { path: { id }, body: { name: 'New' } });
    expect(await getComputation(id, { 'if-none-match': etag })).toMatchObject({ status: 200, body: { name: 'New' } });
  });

  it('never leads to 304 where the answer has a presigned download', async () => {
    const { id, upload } = await session.createAsset({ asset: undefined });
    const body = Uint8Array.from(randomBytes(4 * 1024 * 1024 + 1));
    await fetch(upload?.url ?? '', { method: 'PUT', headers: upload?.headers ?? {}, body });
    await expect.poll(async () => (await session.done('assets/get-asset', { path: { id } })).state).toBe('ready');
    const etag = etagOf(await getAsset(id));
    for (const value of [etag, '*']) {
      const reply = await getAsset(id, { 'if-none-match': value });
      expect([reply.status, etagOf(reply)]).toEqual([200, etag]);
      expect(reply.body).toHaveProperty('download');
    }
    expect((await change('assets/update-asset', id, etag)).status).toBe(200);
  });

  it('is answered with 404 for an absent resource', async () => {
    expect((await getComputation(absent, { 'if-none-match': '*' })).status).toBe(404);
    expect((await getAsset(absent, { 'if-none-match': '*' })).status).toBe(404);
  });

  it.each(gets)('is answered with 400 that names the header for %s if it is malformed', async (_what, get) => {
    const { status, body } = await get({ 'if-none-match': 'abc' });
    expect([status, body]).toMatchObject([400, { errors: [{ pointer: 'header/if-none-match' }] }]);
  });
});

describe.each(changes.map(([name]) => name))('If-Match of %s', (name) => {
  it('lets the change through if it names the current ETag, alone or in a list, or any by *', async () => {
    for (const value of [(etag: string) => etag, (etag: string) => `"x", W/"y", ${etag}`, () => '*']) {
      const { id } = await resourceFor(name);
      const { status } = await change(name, id, value(etagOf(await read(name, id))));
      expect(status).toBeLessThan(300);
    }
  });

  it('is answered with 412 if it names another ETag, or the current one as weak, with 400 that names it if it is malformed, and no change', async () => {
    const { id } = await resourceFor(name);
    const before = await read(name, id);
    for (const value of [stale, `W/${etagOf(before)}`, `"x", "y"`]) {
      expect([value, ...codeOf(await change(name, id, value))]).toEqual([value, 412, 'precondition_failed']);
    }
    const { status, body } = await change(name, id, 'abc');
    expect([status, body]).toMatchObject([400, { errors: [{ pointer: 'header/if-match' }] }]);
    const after = await read(name, id);
    expect([after.body, etagOf(after)]).toEqual([before.body, etagOf(before)]);
  });

  it('lets exactly one of two writers at once through', async () => {
    const { id } = await resourceFor(name);
    const etag = etagOf(await read(name, id));
    const statuses = (await Promise.all([change(name, id, etag), change(name, id, etag)])).map(({ status }) => status);
    const isDeletion = name.includes('delete');
    expect(statuses.sort()).toEqual(isDeletion ? [204, 404] : [200, 412]);
  });

  it('is compared after the resource was found', async () => {
    expect((await change(name, absent, stale)).status).toBe(404);
  });

  itAs(['viewer'], 'is compared after the access was checked', async () => {
    const { id } = await resourceFor(name);
    expect((await change(name, id, stale, { as: 'viewer' })).status).toBe(403);
  });
});

describe('a refusal of the request itself', () => {
  it('comes before the 412: an invalid body, another content type, or content that does not match its checksum', async () => {
    const { id } = await session.createAsset();
    const update = 'computations/update-computation';
    const computation = await session.createComputation();
    expect((await change(update, computation.id, stale, { body: { nome: 'x' } })).status).toBe(400);
    expect((await change(update, computation.id, stale, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
    const body = dataset({ asset: base64('a'), checksum: '0'.repeat(64) });
    expect((await change('assets/update-asset', id, stale, { body })).status).toBe(400);
  });

  itAs(['creator'], 'comes before the 412: naming another owner as no administrator', async () => {
    const { id } = await session.createComputation({}, 'creator');
    const rest = { body: { name: 'N', owner: 'someone' }, as: 'creator' } as const;
    expect((await change('computations/update-computation', id, stale, rest)).status).toBe(403);
  });

  it('comes before the 412: an approval level below the present one', async () => {
    const { id } = await session.createComputation({ approval: 'all' });
    const body = { name: 'Lower', approval: 'none' };
    expect(codeOf(await change('computations/update-computation', id, stale, { body }))).toEqual([400, 'invalid_request']);
  });

  it('comes before the 412: a review whose reviewer is a result consumer', async () => {
    const { id } = await session.createComputation();
    const review = { reviewers: ['rita', 'carol'], needed: 1 };
    const changeTo = (consumers: string[]) =>
      change('computations/update-computation', id, stale, { body: { name: 'N', consumers, result_review: review } });
    expect(await changeTo(['carol'])).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/result_review/reviewers/1' }] },
    });
    expect(codeOf(await changeTo(['bob']))).toEqual([412, 'precondition_failed']);
  });

  itAs(['dataset_provider'], 'comes before the 412: changing what belongs to the creator of an asset', async () => {
    const { id } = await session.createAsset({}, 'dataset_provider');
    const body = dataset({ content_access: 'domain' });
    expect(codeOf(await change('assets/update-asset', id, stale, { body }))).toEqual([403, 'forbidden']);
    const otherBody = dataset({ asset: base64('b'), checksum: '0'.repeat(64) });
    expect(codeOf(await change('assets/update-asset', id, stale, { body: otherBody }))).toEqual([403, 'forbidden']);
    expect(codeOf(await change('assets/update-asset', id, stale))).toEqual([412, 'precondition_failed']);
  });
});

describe('a conflict', () => {
  it('comes before the 412 when a run is active or uses the asset', async () => {
    const id = await session.readyComputation();
    const asset = await session.createAsset();
    await session.link(asset.id, id);
    await session.startRun(id, newCvm());
    expect(await change('computations/delete-computation', id, stale)).toMatchObject({ body: { reason: 'run_active' } });
    expect(await change('assets/delete-asset', asset.id, stale)).toMatchObject({ body: { reason: 'asset_in_use' } });
  });

  it('comes before the 412 when another asset has the place of the changed one', async () => {
    const { id } = await session.createComputation();
    const [first, second] = [await session.createAsset(), await session.createAsset()];
    const algorithm = await session.createAsset({ asset_type: 'algorithm' });
    for (const asset of [first, second, algorithm]) await session.link(asset.id, id);
    const update = 'assets/update-asset';
    const becoming = (fields: Record<string, unknown>) => change(update, first.id, stale, { body: dataset(fields) });
    expect(await becoming({ file_name: second.file_name })).toMatchObject({ body: { reason: 'file_name_taken' } });
    expect(await becoming({ asset_type: 'algorithm' })).toMatchObject({ body: { reason: 'second_algorithm' } });
    expect(codeOf(await becoming({ file_name: 'free.csv' }))).toEqual([412, 'precondition_failed']);
    expect(await getAsset(first.id)).toMatchObject({ body: { file_name: first.file_name } });
  });
});

describe('reading, changing and writing back', () => {
  it('keeps the change of another writer: the 412 leads to a second try on what that writer left', async () => {
    const { id } = await session.createComputation({ name: 'N', description: 'D' });
    const update = 'computations/update-computation';
    const [mine, theirs] = [await getComputation(id), await getComputation(id)];
    const theirChange = { body: { ...(theirs.body as object), description: 'theirs' } };
    expect((await change(update, id, etagOf(theirs), theirChange)).status).toBe(200);
    const myChange = (state: Reply) => ({ body: { ...(state.body as object), name: 'mine' } });
    expect((await change(update, id, etagOf(mine), myChange(mine))).status).toBe(412);
    const again = await getComputation(id);
    expect(await change(update, id, etagOf(again), myChange(again))).toMatchObject({
      status: 200,
      body: { name: 'mine', description: 'theirs' },
    });
  });

  it('works with the ETag that each change returned, without reading again', async () => {
    const created = await session.call('assets/create-asset', { body: dataset({ asset: base64('a') }) });
    const { id } = created.body as { id: string };
    let etag = etagOf(created);
    for (const description of ['first', 'second']) {
      const reply = await change('assets/update-asset', id, etag, { body: dataset({ description }) });
      expect(reply.status).toBe(200);
      etag = etagOf(reply);
    }
    expect((await change('assets/delete-asset', id, etag)).status).toBe(204);
  });
});

describe('a request without conditional headers', () => {
  it('replaces and deletes as ever, and the headers mean nothing to other requests', async () => {
    const { id } = await session.createComputation();
    await session.done('computations/update-computation', { path: { id }, body: { name: 'M' } });
    const headers = { 'if-match': stale, 'if-none-match': '*' };
    const list = await session.call('computations/list-computations', { headers });
    expect([list.status, list.headers.get('etag')]).toEqual([200, null]);
    expect((await getComputation(id, { 'if-match': stale })).status).toBe(200);
    await session.done('computations/delete-computation', { path: { id }, headers: { 'if-none-match': '*' } });
  });
});
