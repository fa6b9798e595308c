import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { canonicalDigest, canonicalJson } from 'computation-management-formats/canonical-json';
import { describe, expect, it } from 'vitest';
import { base64, itAs, newCvm, publicKey, useSession } from '../support/session.ts';

const session = useSession();
const approve = 'approvals/approve';
const list = 'approvals/list-approvals';
const withdraw = 'approvals/withdraw-approval';
const dryRun = 'runs/dry-run';
const start = 'runs/start-run';
const absent = '00000000-0001-8c3a-9f0e-2b7d41c5e6a8';
const nothing = { keys: [], hashes: [], info: [] };
const provider = 'dataset_provider';

const missingIn = async (id: string) => (await session.done(dryRun, { path: { id } })).missing_items;
const me = () => session.target.idOf('administrator');
const bob = () => session.target.idOf(provider);

/** Creates a computation of the administrator with a dataset of the provider, whose use takes approval by default. */
async function sharedComputation(use = 'approval', fields: Record<string, unknown> = {}) {
  const id = await session.readyComputation(fields);
  const dataset = await session.createAsset({ file_name: 'penguins.csv', use, user_key: publicKey() }, provider);
  await session.link(dataset.id, id);
  return { id, dataset: dataset.id };
}

describe('the digest of a manifest', () => {
  it('is in a header of the manifest and of the dry run, and with the run', async () => {
    const id = await session.readyComputation();
    const { headers, body } = await session.call('runs/get-manifest', { path: { id } });
    const digest = headers.get('manifest-digest');
    expect(digest).toBe(canonicalDigest(body as object));
    expect((await session.call(dryRun, { path: { id } })).headers.get('manifest-digest')).toBe(digest);
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    expect(await session.done('runs/get-run', { path: { id } })).toMatchObject({ id: run, manifest_digest: digest });
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed' } });
    const ofRun = await session.call('runs/get-manifest', { path: { id }, query: { run } });
    expect(ofRun.headers.get('manifest-digest')).toBe(digest);
    expect((await session.call('runs/get-manifest', { path: { id } })).headers.get('manifest-digest')).not.toBe(digest);
    await session.endRun(cvm);
    expect(await session.done('runs/get-run', { path: { id }, query: { run } })).toMatchObject({ manifest_digest: digest });
  });

  it('is absent from the dry run while there is no manifest', async () => {
    const { id } = await session.createComputation();
    expect((await session.call(dryRun, { path: { id } })).headers.has('manifest-digest')).toBe(false);
  });
});

describe('a run of a computation with an asset whose use takes approval', () => {
  itAs([provider], 'is refused with the missing approval named, and starts after the approval', async () => {
    const { id } = await sharedComputation();
    const missing_items = { ...nothing, info: [`Approval of ${bob()} for penguins.csv`] };
    expect(await missingIn(id)).toEqual(missing_items);
    const cvm = newCvm();
    const refused = await session.refused(start, { path: { id }, query: { cvm } });
    expect(refused).toMatchObject({ status: 422, code: 'incomplete', missing_items });
    expect((await session.call('runs/get-manifest', { path: { id } })).status).toBe(200);

    const approval = await session.approve(id, provider);
    const digest = await session.digestOf(id);
    expect(approval).toEqual({
      user: bob(),
      digest,
      cvm_ids: null,
      expires_at: null,
      signed: false,
      stale: false,
      approved_at: expect.any(String),
    });
    expect(await session.done(list, { path: { id } })).toEqual({
      needed: [{ user: bob(), because: ['penguins.csv'] }],
      approvals: [approval],
    });
    expect(await missingIn(id)).toEqual(nothing);
    await session.startRun(id, cvm);
    await session.endRun(cvm);
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'approved' } });
    const { agent_config = {} } = await session.done('computations/get-computation', { path: { id } });
    const covered = Object.entries(agent_config).filter(([name]) => name !== 'log_level' && name !== 'server_key');
    const details = { digest, config_digest: canonicalDigest(Object.fromEntries(covered)), signed: false };
    expect(events).toMatchObject([{ originator: bob(), status: 'success', details: base64(JSON.stringify(details)) }]);
  });

  itAs([provider], 'has byte for byte the manifest that was approved: as its CVM, the API and the evidence give it', async () => {
    const { id } = await sharedComputation();
    const approved = canonicalJson(await session.done('runs/get-manifest', { path: { id }, as: provider }));
    const digest = createHash('sha3-256').update(approved).digest('hex');
    await session.done(approve, { path: { id }, body: { digest }, as: provider });
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed during the run' } });
    const { manifest: ofCvm = {} } = await session.commandFor(cvm, 'run');
    await session.endRun(cvm);
    const { statement } = await session.done('runs/get-evidence', { path: { id }, query: { run } });
    const ofRun = await session.done('runs/get-manifest', { path: { id }, query: { run } });
    for (const manifest of [ofCvm, ofRun, statement.manifest]) expect(canonicalJson(manifest)).toBe(approved);
    expect(statement.approvals).toMatchObject([{ user: bob(), digest }]);
  });

  itAs([provider], 'is refused after the approval is withdrawn or the manifest changes', async () => {
    const { id } = await sharedComputation();
    await session.approve(id, provider);
    await session.done(withdraw, { path: { id }, as: provider });
    const refused = async () => (await session.refused(start, { path: { id }, query: { cvm: newCvm() } })).missing_items?.info;
    const missing = [`Approval of ${bob()} for penguins.csv`];
    expect(await refused()).toEqual(missing);
    const { events } = await session.done('events/list-events', { path: { id } });
    expect(events[0]).toMatchObject({ event_type: 'approval_withdrawn', originator: bob() });

    await session.approve(id, provider);
    await session.link((await session.createAsset()).id, id);
    expect(await refused()).toEqual(missing);
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ user: bob(), stale: true }]);
  });

  itAs([provider], 'takes an approval, which counts for each run until it is withdrawn', async () => {
    const { id } = await sharedComputation();
    await session.approve(id, provider);
    for (const cvm of [newCvm(), newCvm()]) {
      await session.startRun(id, cvm);
      await session.endRun(cvm);
    }
    await session.done(withdraw, { path: { id }, as: provider });
    expect((await session.refused(start, { path: { id }, query: { cvm: newCvm() } })).code).toBe('incomplete');
  });

  itAs([provider], 'is refused on another CVM than the approval names', async () => {
    const { id } = await sharedComputation();
    const cvm = newCvm();
    const digest = await session.digestOf(id);
    const body = { digest, cvm_ids: [cvm], expires_at: '2099-01-01T00:00:00Z' };
    expect(await session.done(approve, { path: { id }, body, as: provider })).toMatchObject(body);
    expect((await session.refused(start, { path: { id }, query: { cvm: newCvm() } })).code).toBe('incomplete');
    await session.startRun(id, cvm);
    await session.endRun(cvm);
  });

  itAs([provider], 'needs no approval after the creator opens the use again, and refuses others who try', async () => {
    const { id, dataset } = await sharedComputation();
    const { content_withheld: _, ...read } = await session.done('assets/get-asset', { path: { id: dataset } });
    expect(read.use).toBe('approval');
    const request = (fields: Record<string, unknown>) => ({ path: { id: dataset }, body: { asset: { ...read, ...fields } } });
    const refused = await session.refused('assets/update-asset', request({ use: 'open' }));
    expect(refused).toMatchObject({ status: 403, errors: [{ pointer: '/asset/use' }] });
    const kept = { path: { id: dataset }, body: { asset: { file_name: 'penguins.csv', asset_type: 'dataset' } } };
    expect((await session.done('assets/update-asset', { ...kept, as: provider })).use).toBe('approval');
    await session.done('assets/update-asset', { ...request({ use: 'open' }), as: provider });
    expect(await missingIn(id)).toEqual(nothing);
  });
});

describe('a computation that takes the approval of all', () => {
  itAs([provider, 'result_consumer'], 'needs that of each creator and each result consumer', async () => {
    const { id } = await sharedComputation('open', { approval: 'all' });
    await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: 'result_consumer' });
    const carol = session.target.idOf('result_consumer');
    expect((await session.done(list, { path: { id } })).needed).toEqual([
      { user: me(), because: ['algorithm.py', 'result consumer'] },
      { user: bob(), because: ['penguins.csv'] },
      { user: carol, because: ['result consumer'] },
    ]);
    for (const as of ['administrator', provider, 'result_consumer'] as const) {
      expect((await missingIn(id)).info).not.toEqual([]);
      await session.approve(id, as);
    }
    expect(await missingIn(id)).toEqual(nothing);
  });

  it('can only be demanded more strictly', async () => {
    const { id } = await session.createComputation();
    const replace = (fields: object) => ({ path: { id }, body: { name: 'N', ...fields } });
    expect((await session.done('computations/get-computation', { path: { id } })) as object).toMatchObject({
      approval: 'none',
      consumers: [],
    });
    expect(await session.done('computations/update-computation', replace({ approval: 'all' }))).toMatchObject({
      approval: 'all',
    });
    expect(await session.done('computations/update-computation', replace({}))).toMatchObject({ approval: 'all' });
    await session.done('computations/update-computation', replace({ approval: 'all_signed' }));
    for (const approval of ['none', 'all']) {
      expect(await session.refused('computations/update-computation', replace({ approval }))).toMatchObject({
        status: 400,
        errors: [{ pointer: '/approval' }],
      });
    }
  });

  itAs([provider], 'can take signatures, by the keys that the users uploaded', async () => {
    const { id } = await sharedComputation('open', { approval: 'all_signed' });
    const { publicKey: own, privateKey } = generateKeyPairSync('ed25519');
    const digest = await session.digestOf(id);
    const limits = { cvm_ids: ['b', 'a'], expires_at: '2099-01-01T00:00:00Z' };
    const text = `computation-approval:v1:${session.target.domain}:${id}:${digest}`;
    const signed = (of: string) => sign(null, Buffer.from(of), privateKey).toString('base64');
    const send = (body: object) => ({ path: { id }, body: { digest, ...body }, as: provider }) as const;
    const invalid = { status: 400, code: 'invalid_request', errors: [{ pointer: '/signature' }] };

    expect(await session.refused(approve, send({ signature: signed(text) }))).toMatchObject(invalid); // no key yet
    const key = base64(own.export({ format: 'pem', type: 'spki' }).toString());
    await session.done('keys/upload-key', { path: { id }, body: { key }, as: provider });
    expect(await session.refused(approve, send({ signature: signed(`${text}x`) }))).toMatchObject(invalid);
    expect(await session.refused(approve, send({ ...limits, signature: signed(text) }))).toMatchObject(invalid);
    expect(await session.refused(approve, send({ signature: 'not base64' }))).toMatchObject(invalid);
    expect(await session.done(approve, send({}))).toMatchObject({ signed: false, stale: true });
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ user: bob(), signed: false, stale: true }]);
    expect((await missingIn(id)).info).toContain(`Approval of ${bob()} for penguins.csv`);
    const signature = signed(`${text}:${canonicalDigest(limits)}`);
    expect(await session.done(approve, send({ ...limits, signature }))).toMatchObject({ ...limits, signed: true, stale: false });
    expect(await session.done(approve, send({ signature: signed(text) }))).toMatchObject({ cvm_ids: null, signed: true });
    expect((await missingIn(id)).info).not.toContain(`Approval of ${bob()} for penguins.csv`);

    await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: provider });
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ user: bob(), signed: true, stale: true }]);
    expect((await missingIn(id)).info).toContain(`Approval of ${bob()} for penguins.csv`);
  });
});

describe('an approval', () => {
  itAs(
    [provider, 'viewer', 'result_consumer'],
    'is open to the owner, creators of assets and result consumers only',
    async () => {
      const { id } = await sharedComputation('open');
      expect(await session.approve(id)).toMatchObject({ user: me() });
      expect(await session.approve(id, provider)).toMatchObject({ user: bob() });
      const body = { digest: await session.digestOf(id) };
      for (const as of ['viewer', 'result_consumer'] as const) {
        expect(await session.refused(approve, { path: { id }, body, as })).toMatchObject({ status: 403, code: 'forbidden' });
      }
      await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: 'result_consumer' });
      expect(await session.approve(id, 'result_consumer')).toMatchObject({ user: session.target.idOf('result_consumer') });
      await session.done(withdraw, { path: { id }, as: 'viewer' });
      expect((await session.done(list, { path: { id }, as: 'viewer' })).approvals).toHaveLength(3);
    },
  );

  it('of another digest is refused with the present digest, and without a manifest with the missing items', async () => {
    const id = await session.readyComputation();
    const manifest_digest = await session.digestOf(id);
    for (const digest of [
      '0'.repeat(64),
      manifest_digest.toUpperCase(),
      manifest_digest.slice(1),
      ` ${manifest_digest}`,
      'stale',
    ]) {
      const refused = await session.refused(approve, { path: { id }, body: { digest, signature: 'AAAA' } });
      expect(refused).toMatchObject({ status: 409, code: 'conflict', reason: 'stale_digest', manifest_digest });
    }
    const { id: incomplete } = await session.createComputation();
    const none = await session.refused(approve, { path: { id: incomplete }, body: { digest: 'stale' } });
    expect(none).toMatchObject({ status: 422, code: 'incomplete', missing_items: { info: ['Missing algorithm'] } });
    expect((await session.refused(approve, { path: { id: absent }, body: { digest: 'stale' } })).status).toBe(404);
  });

  itAs([provider], 'is refused with 412 if the agent_config is another one than its ETag in If-Match', async () => {
    const agent_config = { attested_tls: true };
    const { id } = await sharedComputation('approval', { agent_config });
    const read = await session.call('computations/get-computation', { path: { id }, as: provider });
    const digest = await session.digestOf(id);
    const send = (etag: string | null, of = digest) =>
      ({ path: { id }, body: { digest: of }, headers: { 'if-match': etag ?? '' }, as: provider }) as const;
    const { name } = read.body as { name: string };
    const changed = { name, agent_config: { attested_tls: false } };
    await session.done('computations/update-computation', { path: { id }, body: changed });
    expect(await session.digestOf(id)).toBe(digest); // the manifest does not show the change

    const etag = read.headers.get('etag');
    expect(await session.refused(approve, send(etag))).toMatchObject({ status: 412, code: 'precondition_failed' });
    expect((await session.done(list, { path: { id } })).approvals).toEqual([]);
    const stale = await session.refused(approve, send(etag, '0'.repeat(64)));
    expect(stale).toMatchObject({ status: 409, reason: 'stale_digest' });
    expect((await session.refused(approve, send('no tag'))).errors).toMatchObject([{ pointer: 'header/if-match' }]);

    const present = await session.call('computations/get-computation', { path: { id }, as: provider });
    expect(await session.done(approve, send(present.headers.get('etag')))).toMatchObject({ user: bob(), stale: false });
    expect(await session.done(approve, send(present.headers.get('etag')))).toMatchObject({ user: bob(), stale: false });
    expect(await session.refused(approve, send(etag))).toMatchObject({ status: 412 });
    const row = await session.call('computations/get-computation', { path: { id }, query: { peek: true }, as: provider });
    expect((await session.call(approve, send(row.headers.get('etag')))).status).toBe(201);
  });

  it('given twice is recorded once, and the last one counts', async () => {
    const id = await session.readyComputation();
    const first = await session.approve(id);
    expect(await session.approve(id)).toEqual(first);
    const body = { digest: await session.digestOf(id), cvm_ids: ['cvm-1'] };
    expect(await session.done(approve, { path: { id }, body })).toMatchObject({ cvm_ids: ['cvm-1'] });
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ cvm_ids: ['cvm-1'] }]);
    const { total } = await session.done('events/list-events', { path: { id }, query: { event_type: 'approved' } });
    expect(total).toBe(2);
    for (let time = 1; time <= 2; time++) expect((await session.call(withdraw, { path: { id } })).status).toBe(204);
    const withdrawn = await session.done('events/list-events', { path: { id }, query: { event_type: 'approval_withdrawn' } });
    expect(withdrawn.total).toBe(1);
  });

  it.each([
    ['no digest', {}, '/digest'],
    ['an empty digest', { digest: '' }, '/digest'],
    ['a digest that is no text', { digest: 1 }, '/digest'],
    ['a digest of 201 characters', { digest: 'a'.repeat(201) }, '/digest'],
    ['a CVM that is no identifier', { digest: '0'.repeat(64), cvm_ids: ['a/b'] }, '/cvm_ids/0'],
    ['a time without an offset', { digest: '0'.repeat(64), expires_at: '2099-01-01T00:00:00' }, '/expires_at'],
    ['an unknown field', { digest: '0'.repeat(64), x: 1 }, '/x'],
  ])('with %s is 400', async (_what, body, pointer) => {
    const { id } = await session.createComputation();
    const { status, errors } = await session.refused(approve, { path: { id }, body });
    expect([status, errors?.[0]?.pointer]).toEqual([400, pointer]);
  });
});

describe('the result consumers of a computation', () => {
  itAs(['result_consumer', 'viewer'], 'are the owner and those whom it names, once it names some', async () => {
    const id = await session.readyComputation();
    for (const as of ['result_consumer', 'viewer'] as const) {
      await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as });
    }
    const count = async () => (await session.done('runs/get-manifest', { path: { id } })).result_consumers.length;
    const replace = (fields: object) =>
      session.done('computations/update-computation', { path: { id }, body: { name: 'N', ...fields } });
    expect(await count()).toBe(2); // the owner, and the user with the role
    expect(await replace({ consumers: [me()] })).toMatchObject({ consumers: [me()] });
    expect(await count()).toBe(1);
    const viewer = session.target.idOf('viewer');
    await replace({ consumers: [viewer, session.target.idOf('result_consumer'), viewer] });
    expect(await count()).toBe(3);
    expect((await replace({})).consumers).toEqual([]);
    expect(await count()).toBe(2);
  });
});

describe('an editor who names themselves as a consumer', () => {
  itAs([provider, 'editor'], 'becomes a result consumer, makes all approvals stale, and is named by the journal', async () => {
    const { id } = await sharedComputation();
    const erin = session.target.idOf('editor');
    await session.approve(id, provider);
    expect(await missingIn(id)).toEqual(nothing);
    const { name } = await session.done('computations/get-computation', { path: { id } });
    await session.done('computations/update-computation', { path: { id }, body: { name, consumers: [erin] }, as: 'editor' });
    await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: 'editor' });
    expect((await session.done('runs/get-manifest', { path: { id } })).result_consumers).toHaveLength(2);
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ user: bob(), stale: true }]);
    expect((await session.refused(start, { path: { id }, query: { cvm: newCvm() } })).status).toBe(422);
    const { events } = await session.done('events/list-events', { path: { id }, query: { originator: erin } });
    expect(events).toMatchObject([
      { event_type: 'key_uploaded' },
      { event_type: 'updated', details: base64(JSON.stringify({ fields: ['consumers'] })) },
    ]);
  });
});

describe('a copy of an asset', () => {
  itAs(
    [provider],
    'makes the same manifest without the approval of the real creator, and the evidence shows who made it',
    async () => {
      const { id, dataset } = await sharedComputation();
      const digest = await session.digestOf(id);
      const { checksum, user_key } = await session.done('assets/get-asset', { path: { id: dataset } });
      const double = await session.createAsset({ file_name: 'penguins.csv', asset: undefined, checksum, user_key });
      const { method = '', url = '', headers = {} } = double.upload ?? {};
      await fetch(url, { method, headers, body: 'a sample' });
      const state = async () => (await session.done('assets/get-asset', { path: { id: double.id } })).state;
      await expect.poll(state).toBe('ready');
      await session.done('assets/unlink-asset', { path: { id: dataset, computationID: id } });
      await session.link(double.id, id);

      expect(await session.digestOf(id)).toBe(digest);
      expect(await missingIn(id)).toEqual(nothing);
      const cvm = newCvm();
      const run = await session.startRun(id, cvm);
      await session.endRun(cvm);
      const { statement } = await session.done('runs/get-evidence', { path: { id }, query: { run } });
      expect(statement.assets).toMatchObject([{}, { id: double.id, creator: me(), checksum, use: 'open' }]);
    },
  );
});

describe('the creator of an asset that an active run uses', () => {
  itAs([provider, 'viewer'], 'may stop it, also after the asset was unlinked, and nobody else may', async () => {
    const { id, dataset } = await sharedComputation('open');
    const stop = (as: 'viewer' | typeof provider) => session.call('runs/stop-run', { path: { id }, as });
    expect((await stop(provider)).status).toBe(403);
    const cvm = newCvm();
    const run_id = await session.startRun(id, cvm);
    await session.done('assets/unlink-asset', { path: { id: dataset, computationID: id } });
    expect((await stop('viewer')).status).toBe(403);
    expect(await stop(provider)).toMatchObject({ status: 200, body: { id: run_id, status: 'stopping' } });
    await session.report(cvm, { run_id, type: 'event', event_type: 'Stopped', status: 'Stopped' });
    await session.untilStatus(id, 'cancelled');
  });
});

describe('the todo of a user', () => {
  itAs([provider], 'names approvals, keys and content that wait for the user', async () => {
    const before = await session.done('todo/get-todo', { as: provider });
    const { id } = await sharedComputation();
    const pending = await session.createAsset({ asset: undefined }, provider);
    const keyless = await session.createAsset({}, provider);
    const { id: other, name } = await session.createComputation();
    await session.link(keyless.id, other);
    expect(await session.done('todo/get-todo', { as: provider })).toEqual({
      approvals: expect.arrayContaining([
        { computation_id: id, name, because: ['penguins.csv'], manifest_digest: await session.digestOf(id) },
        ...before.approvals,
      ]),
      keys: expect.arrayContaining([{ computation_id: other, name }, ...before.keys]),
      content: [{ asset_id: pending.id, file_name: pending.file_name }, ...before.content],
      totals: {
        approvals: before.approvals.length + 1,
        keys: before.keys.length + 1,
        content: before.content.length + 1,
      },
      truncated: false,
    });
    await session.approve(id, provider);
    await session.done('keys/upload-key', { path: { id: other }, body: { key: publicKey() }, as: provider });
    const after = await session.done('todo/get-todo', { as: provider });
    expect([after.approvals, after.keys]).toEqual([before.approvals, before.keys]);
  });
});
