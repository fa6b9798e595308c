import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import canonicalize from 'canonicalize';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { decisionText } from 'computation-management-formats/consent';
import type { BodyOf } from '../support/client.ts';
import { untilTestEnds } from '../support/patience.ts';
import { beforeAllAs, itAs, newCvm, publicKey, useSession } from '../support/session.ts';
import type { Person } from '../support/target.ts';

const session = useSession();
const content = 'species,count\nAdelie,152\n';
const checksumOf = (text: string) => createHash('sha3-256').update(text).digest('hex');
const file = { file_name: 'counts.csv', size: Buffer.byteLength(content), checksum: checksumOf(content) };
type Reviewed = Awaited<ReturnType<typeof session.reviewedRun>>;

const resultOf = async (reviewed: Reviewed) => (await session.done('runs/get-run', reviewed)).result;
const decide = (reviewed: Reviewed, body: object, as: Person = 'administrator') =>
  session.call('results/decide-result', { ...reviewed, body, as });
const release = (reviewed: Reviewed, checksum: string) => decide(reviewed, { decision: 'release', checksum });

describe('the setting result_review', () => {
  const create = (fields: object) => session.call('computations/create-computation', { body: { name: 'Reviewed', ...fields } });
  const review = { reviewers: ['rita', 'ruth'], needed: 1 };

  it.each([
    [
      'more needed than there are reviewers',
      { consumers: ['carol'], result_review: { ...review, needed: 3 } },
      '/result_review/needed',
    ],
    ['none needed', { consumers: ['carol'], result_review: { ...review, needed: 0 } }, '/result_review/needed'],
    ['no reviewer', { consumers: ['carol'], result_review: { reviewers: [], needed: 1 } }, '/result_review/reviewers'],
    ['no named consumer', { result_review: review }, '/consumers'],
    ['a consumer as reviewer', { consumers: ['carol', 'ruth'], result_review: review }, '/result_review/reviewers/1'],
    ['an unknown member', { consumers: ['carol'], result_review: { ...review, consumers: [] } }, '/result_review/consumers'],
  ])('is refused with %s', async (_, fields, pointer) => {
    const { status, body } = await create(fields);
    expect([status, body]).toMatchObject([400, { errors: [{ pointer }] }]);
  });

  it('is refused with the owner as reviewer, also if a change makes the owner one', async () => {
    const owner = session.target.idOf('administrator');
    const own = await create({ consumers: ['carol'], result_review: { reviewers: [owner], needed: 1 } });
    expect([own.status, own.body]).toMatchObject([400, { errors: [{ pointer: '/result_review/reviewers/0' }] }]);
    const { id } = await session.createComputation({ consumers: ['carol'], result_review: review });
    const body = { name: 'Reviewed', consumers: ['carol'], owner: 'rita' };
    const changed = await session.call('computations/update-computation', { path: { id }, body });
    expect([changed.status, changed.body]).toMatchObject([400, { errors: [{ pointer: '/result_review/reviewers/0' }] }]);
  });

  it('stays if a change omits it, goes with null, and makes its reviewers parties', async () => {
    const { id, result_review, parties } = await session.createComputation({ consumers: ['carol'], result_review: review });
    expect(result_review).toEqual(review);
    expect(parties).toContainEqual({ user: 'rita', parts: ['reviewer'], invited: true });
    const change = (fields: object) =>
      session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed', ...fields } });
    expect((await change({})).result_review).toEqual(review);
    expect((await change({ result_review: null })).result_review).toBeNull();
  });

  it('is a part of the configuration with the consumers and the owner, sorted, and the manifest names the reviewers alone', async () => {
    const { path, query } = await session.reviewedRun({ consumers: ['zoe', 'carol'] });
    const { manifest, configuration, result_consumers, configuration_digest } = (
      await session.done('evidence/get-evidence', { path, query })
    ).statement;
    const consumers = ['carol', 'owner-of-results', 'zoe'];
    expect(configuration.result_review).toEqual({ reviewers: [session.target.idOf('administrator')], needed: 1, consumers });
    expect(result_consumers).toEqual(consumers);
    expect(manifest.result_consumers).toHaveLength(1);
    const digest = createHash('sha3-256').update(canonicalize(configuration) ?? '');
    expect(configuration_digest).toBe(digest.digest('hex'));
  });
});

describe('a result under review', () => {
  let reviewed: Reviewed;
  let checksum: string;
  beforeAll(async () => {
    reviewed = await session.reviewedRun();
  });

  it('awaits its file from the start of the run', async () => {
    expect(await resultOf(reviewed)).toEqual({ state: 'awaiting_file', asset: null, checksum: null, size: null, decisions: [] });
    expect(await release(reviewed, file.checksum)).toMatchObject({ status: 409, body: { reason: 'no_result' } });
  });

  it('is under review once its file has arrived, and another file takes its place until the first decision', async () => {
    await session.handIn(reviewed, 'a first file');
    const before = (await resultOf(reviewed))?.asset ?? '';
    checksum = await session.handIn(reviewed, content);
    const result = await resultOf(reviewed);
    expect(result).toMatchObject({ state: 'under_review', checksum, size: content.length, decisions: [] });
    expect((await session.call('assets/get-asset', { path: { id: before } })).status).toBe(404);
  });

  it('is an asset that only the filter lists, and that cannot be changed, linked, created or deleted', async () => {
    const id = (await resultOf(reviewed))?.asset ?? '';
    const list = (query?: { asset_type: 'result' }) => session.done('assets/list-assets', query ? { query } : {});
    expect((await list({ asset_type: 'result' })).assets).toContainEqual(expect.objectContaining({ id, asset_type: 'result' }));
    expect((await list()).assets.map(({ asset_type }) => asset_type)).not.toContain('result');
    const asset = { file_name: 'x.csv', asset_type: 'dataset' };
    const refused = { status: 409, body: { reason: 'result_of_run' } };
    expect(await session.call('assets/update-asset', { path: { id }, body: { asset } })).toMatchObject(refused);
    expect(await session.call('assets/delete-asset', { path: { id } })).toMatchObject(refused);
    const key = { held: 'party', fingerprint: 'a'.repeat(64) } as const;
    expect(await session.call('assets/set-asset-key', { path: { id }, body: key })).toMatchObject(refused);
    const { id: computationID } = await session.createComputation();
    expect(await session.call('assets/link-asset', { path: { id, computationID } })).toMatchObject(refused);
    const created = await session.call('assets/create-asset', { body: { asset: { ...asset, asset_type: 'result' } } });
    expect(created.status).toBe(400);
  });

  it('takes a decision on that file alone, one of each reviewer', async () => {
    expect(await release(reviewed, 'a'.repeat(64))).toMatchObject({ status: 409, body: { reason: 'other_file' } });
    const open = await session.call('results/get-result', reviewed);
    expect(open).toMatchObject({ status: 409, body: { reason: 'result_open' } });
    const run = await session.done('results/decide-result', {
      ...reviewed,
      body: { decision: 'release', checksum: checksum.toUpperCase(), note: 'No small groups.' },
    });
    const reviewer = session.target.idOf('administrator');
    const decision = { reviewer, decision: 'release', note: 'No small groups.', decided_at: expect.any(String) as string };
    expect(run.result).toMatchObject({ state: 'released', decisions: [decision] });
    expect(await resultOf(reviewed)).toEqual(run.result);
    expect((await session.done('computations/get-computation', { path: reviewed.path })).run).toEqual(run);
    expect(await release(reviewed, checksum)).toMatchObject({ status: 409, body: { reason: 'already_decided' } });
    const late = await session.call('results/hand-in-result', { ...reviewed, body: file });
    expect(late).toMatchObject({ status: 409, body: { reason: 'result_decided' } });
  });

  it('is in the journal with each of its steps', async () => {
    const { events } = await session.done('events/list-events', {
      path: reviewed.path,
      query: { limit: 100, run_id: reviewed.query.run },
    });
    const types = events.map(({ event_type }) => event_type).filter((type) => type.startsWith('result_'));
    expect(types).toEqual(['result_released', 'result_decided', 'result_submitted', 'result_submitted']);
  });

  it('has a signed statement, always the same', async () => {
    const one = await session.done('results/get-result', reviewed);
    expect(one.statement).toMatchObject({
      type: 'computation-result:v1',
      computation: reviewed.path.id,
      run: reviewed.query.run,
      state: 'released',
      checksum,
      decisions: [{ decision: 'release', checksum, signature: null, key: null }],
      event: { event_type: 'result_released' },
    });
    expect(await session.done('results/get-result', reviewed)).toEqual(one);
  });

  it('can be deleted by an administrator after its release', async () => {
    const id = (await resultOf(reviewed))?.asset ?? '';
    expect((await session.call('assets/delete-asset', { path: { id } })).status).toBe(204);
    expect((await session.call('assets/get-asset', { path: { id } })).status).toBe(404);
  });
});

describe('the results of a computation that is deleted', () => {
  it('are gone at once, as the computation is', async () => {
    const reviewed = await session.reviewedRun();
    await session.handIn(reviewed);
    const id = (await resultOf(reviewed))?.asset ?? '';
    expect((await session.call('computations/delete-computation', { path: reviewed.path })).status).toBe(204);
    await vi.waitFor(async () => {
      expect((await session.call('assets/get-asset', { path: { id } })).status).toBe(404);
      const { assets } = await session.done('assets/list-assets', { query: { asset_type: 'result' } });
      expect(assets.map((asset) => asset.id)).not.toContain(id);
    }, untilTestEnds);
  });
});

describe('a file that is not the one handed in', () => {
  it('is refused, and the reviewer uploads the right one', async () => {
    const reviewed = await session.reviewedRun();
    const { id, upload } = await session.done('results/hand-in-result', { ...reviewed, body: file });
    const put = async (to: BodyOf<'assets/get-asset'>['upload'], body: string) =>
      (await fetch(to?.url ?? '', { method: 'PUT', headers: to?.headers ?? {}, body })).status;
    expect(await put(upload, 'another file')).toBe(200);
    const read = () => session.done('assets/get-asset', { path: { id } });
    await expect
      .poll(async () => (await read()).upload?.problem)
      .toMatch(/^The uploaded file has 12 bytes .* Upload that file\.$/);
    expect(await put((await read()).upload, content)).toBe(200);
    await expect.poll(async () => (await resultOf(reviewed))?.state).toBe('under_review');
  });
});

describe('a run without a completed result', () => {
  it('takes neither a file nor a decision', async () => {
    const id = await session.readyComputation();
    const run = await session.startRun(id, newCvm());
    const reviewed = { path: { id }, query: { run } };
    for (const name of ['results/hand-in-result', 'results/decide-result'] as const) {
      const body = name === 'results/hand-in-result' ? file : { decision: 'release', checksum: file.checksum };
      expect((await session.call(name, { ...reviewed, body })).status).toBe(403);
    }
    expect(await session.call('results/get-result', reviewed)).toMatchObject({ status: 409, body: { reason: 'no_result' } });
  });
});

describe('a review by several persons', () => {
  const persons = ['result_consumer', 'runner', 'editor', 'viewer'] as const satisfies Person[];
  const keys = { runner: generateKeyPairSync('ed25519'), editor: generateKeyPairSync('ed25519') };
  const keyOf = (pair: { publicKey: (typeof keys)['runner']['publicKey'] }) =>
    pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');

  /** A completed run that the runner and the editor review for the result consumer. Both must release it. */
  async function started(fields: object = {}): Promise<Reviewed> {
    const id = (as: Person) => session.target.idOf(as);
    const result_review = { reviewers: [id('runner'), id('editor')], needed: 2 };
    const computation = await session.createComputation({ consumers: [id('result_consumer')], result_review, ...fields });
    const path = { id: computation.id };
    const algorithm = await session.createAsset({ file_name: 'algorithm.py', asset_type: 'algorithm' });
    await session.link(algorithm.id, path.id);
    await session.done('keys/upload-key', { path, body: { key: publicKey() } });
    const missing = (await session.done('runs/dry-run', { path })).missing_items;
    expect(missing.keys).toEqual(result_review.reviewers);
    for (const as of ['runner', 'editor'] as const) {
      await session.done('keys/upload-key', { path, body: { key: keyOf(keys[as]) }, as });
    }
    const cvm = newCvm();
    const run = await session.startRun(path.id, cvm);
    await session.endRun(cvm);
    return { path, query: { run } };
  }

  let open: Reviewed;
  beforeAllAs([...persons], async () => {
    open = await started();
    return () => Promise.resolve();
  });

  const readAs = (id: string, as: Person) => session.done('assets/get-asset', { path: { id }, as });

  itAs([...persons], 'gives the content to reviewers alone, and to consumers after the last release that is needed', async () => {
    const body = { ...open, body: file, as: 'viewer' as const };
    expect((await session.call('results/hand-in-result', body)).status).toBe(403);
    const { id, upload } = await session.done('results/hand-in-result', { ...body, as: 'runner' });
    await fetch(upload?.url ?? '', { method: 'PUT', headers: upload?.headers ?? {}, body: content });
    await expect.poll(async () => (await resultOf(open))?.state).toBe('under_review');
    expect((await readAs(id, 'editor')).asset).toBe(Buffer.from(content).toString('base64'));
    for (const as of ['result_consumer', 'viewer', 'administrator'] as const) {
      expect(await readAs(id, as)).toMatchObject({ content_withheld: true });
    }
    const given = { decision: 'release', checksum: file.checksum };
    const underReview =
      'Only reviewers hand in and decide. The result is under review: 2 of 2 reviewers must release it, and 0 did.';
    expect(await decide(open, given, 'result_consumer')).toMatchObject({ status: 403, body: { detail: underReview } });
    expect((await decide(open, given, 'runner')).body).toMatchObject({ result: { state: 'under_review' } });
    expect(await readAs(id, 'result_consumer')).toMatchObject({ content_withheld: true });
    expect((await decide(open, given, 'editor')).body).toMatchObject({ result: { state: 'released' } });
    for (const as of ['result_consumer', 'administrator'] as const) expect((await readAs(id, as)).asset).toBeDefined();
    expect(await readAs(id, 'viewer')).toMatchObject({ content_withheld: true });
  });

  itAs([...persons], 'withholds the result once the releases that are needed cannot come any more', async () => {
    const reviewed = await started();
    const { id, upload } = await session.done('results/hand-in-result', { ...reviewed, body: file, as: 'editor' });
    await fetch(upload?.url ?? '', { method: 'PUT', headers: upload?.headers ?? {}, body: content });
    await expect.poll(async () => (await resultOf(reviewed))?.state).toBe('under_review');
    const given = { decision: 'withhold', checksum: file.checksum, note: 'A group of three people.' };
    expect((await decide(reviewed, given, 'runner')).body).toMatchObject({ result: { state: 'withheld' } });
    expect(await decide(reviewed, given, 'editor')).toMatchObject({ status: 409, body: { reason: 'result_decided' } });
    expect(await readAs(id, 'result_consumer')).toMatchObject({ content_withheld: true });
    expect((await session.done('results/get-result', reviewed)).statement.state).toBe('withheld');
  });

  itAs([...persons], 'needs the approval of its reviewers, and under all_signed their signatures', async () => {
    const reviewed = await started();
    const { path } = reviewed;
    await session.done('computations/update-computation', { path, body: { name: 'All', approval: 'all' } });
    const { needed } = await session.done('approvals/list-approvals', { path });
    expect(needed).toContainEqual({ user: session.target.idOf('runner'), because: ['reviewer'] });
    const { upload } = await session.done('results/hand-in-result', { ...reviewed, body: file, as: 'runner' });
    await fetch(upload?.url ?? '', { method: 'PUT', headers: upload?.headers ?? {}, body: content });
    await expect.poll(async () => (await resultOf(reviewed))?.state).toBe('under_review');
    const { manifest_digest } = await session.done('runs/get-run', reviewed);
    const reviewer = session.target.idOf('runner');
    const decided = { decision: 'release', checksum: file.checksum, note: 'ü' } as const;
    const ofRun = { domain: session.target.domain, computation: path.id, run: reviewed.query.run, reviewer, manifest_digest };
    const signature = (text: string) => sign(null, Buffer.from(text), keys.runner.privateKey).toString('base64');
    const wrong = await decide(reviewed, { ...decided, signature: signature('another text') }, 'runner');
    expect([wrong.status, wrong.body]).toMatchObject([400, { errors: [{ pointer: '/signature' }] }]);
    const right = await decide(reviewed, { ...decided, signature: signature(decisionText({ ...ofRun, ...decided })) }, 'runner');
    expect(right.status).toBe(200);
  });
});
