import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { strictestRules } from 'computation-management-formats/attestation';
import { canonicalDigest, canonicalJson } from 'computation-management-formats/digests';
import { describe, expect, it } from 'vitest';
import { untilTestEnds } from '../support/patience.ts';
import { newCertificate } from '../support/cvm-certificate.ts';
import { digestsIn } from '../support/approval-digests.ts';
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
    const { agent_config, approval } = await session.done('computations/get-computation', { path: { id } });
    const { log_level: _level, server_key: _key, ...covered } = agent_config ?? {};
    const configuration = { agent_config: covered, approval, attestation_policy: null, log_access: 'none', result_review: null };
    const configuration_digest = headers.get('configuration-digest');
    expect(configuration_digest).toBe(canonicalDigest(configuration));
    const dry = (await session.call(dryRun, { path: { id } })).headers;
    expect([dry.get('manifest-digest'), dry.get('configuration-digest')]).toEqual([digest, configuration_digest]);
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    const digests = { manifest_digest: digest, configuration_digest };
    expect(await session.done('runs/get-run', { path: { id } })).toMatchObject({ id: run, ...digests });
    const changed = { name: 'Renamed', agent_config: { attested_tls: true } };
    await session.done('computations/update-computation', { path: { id }, body: changed });
    const ofRun = await session.call('runs/get-manifest', { path: { id }, query: { run } });
    expect(digestsIn(ofRun.headers)).toEqual({ digest, configuration_digest });
    const now = await session.digestsOf(id);
    expect([now.digest === digest, now.configuration_digest === configuration_digest]).toEqual([false, false]);
    await session.endRun(cvm);
    expect(await session.done('runs/get-run', { path: { id }, query: { run } })).toMatchObject(digests);
  });

  it('is absent from the dry run while there is no manifest, and that of the configuration is not', async () => {
    const { id } = await session.createComputation();
    const { headers } = await session.call(dryRun, { path: { id } });
    expect([headers.has('manifest-digest'), headers.has('configuration-digest')]).toEqual([false, true]);
  });
});

describe('the attestation policy of a computation', () => {
  const given = { platforms: ['tdx', 'snp'], measurements: ['0B'.repeat(48), '0a'.repeat(48)] };
  const policy = {
    platforms: ['snp', 'tdx'],
    measurements: ['0a'.repeat(48), '0b'.repeat(48)],
    ...strictestRules,
  };
  const policyOf = async (id: string) =>
    (await session.done('computations/get-computation', { path: { id } })).attestation_policy;
  const put = (id: string, body: Record<string, unknown>) =>
    session.call('computations/update-computation', { path: { id }, body: { name: 'Iris', ...body } });

  it('is answered in one form, stays when it is left out, and goes with null', async () => {
    const { id, attestation_policy } = await session.createComputation({ attestation_policy: given });
    expect(attestation_policy).toEqual(policy);
    expect((await put(id, {})).body).toMatchObject({ attestation_policy: policy });
    expect((await put(id, { attestation_policy: { ...policy, allow_debug: true } })).body).toMatchObject({
      attestation_policy: { ...policy, allow_debug: true },
    });
    expect((await put(id, { attestation_policy: null })).body).toMatchObject({ attestation_policy: null });
    expect(await policyOf(id)).toBeNull();
  });

  it.each([
    ['no platform', { ...given, platforms: [] }, '/attestation_policy/platforms'],
    ['no measurement', { ...given, measurements: [] }, '/attestation_policy/measurements'],
    ['a short measurement', { ...given, measurements: ['0a'] }, '/attestation_policy/measurements/0'],
    ['another field', { ...given, chip: '' }, '/attestation_policy/chip'],
    [
      'no least version of the bootloader',
      { ...given, minimum_tcb: { tee: 0, snp: 0, microcode: 0 } },
      '/attestation_policy/minimum_tcb/bootloader',
    ],
  ])('is refused with %s', async (_what, attestation_policy, pointer) => {
    const refused = await session.refused('computations/create-computation', { body: { name: 'Iris', attestation_policy } });
    expect(refused).toMatchObject({ status: 400, errors: [{ pointer }] });
  });

  itAs([provider], 'is part of the configuration, so that a change makes approvals stale', async () => {
    const { id } = await sharedComputation('approval', { attestation_policy: given });
    const { agent_config } = await session.done('computations/get-computation', { path: { id } });
    const { log_level: _level, server_key: _key, ...covered } = agent_config ?? {};
    const configuration = {
      agent_config: covered,
      approval: 'none',
      attestation_policy: policy,
      log_access: 'none',
      result_review: null,
    };
    const { configuration_digest } = await session.digestsOf(id);
    expect(configuration_digest).toBe(canonicalDigest(configuration));
    expect(await session.approve(id, provider)).toMatchObject({ stale: false });
    await put(id, { attestation_policy: { ...policy, platforms: ['snp'] } });
    const { approvals } = await session.done(list, { path: { id } });
    expect(approvals).toMatchObject([{ user: bob(), stale: true }]);
  });
});

describe('a run of a computation with an asset whose use takes approval', () => {
  itAs([provider], 'is refused, naming the missing approval, until it is given', async () => {
    const { id } = await sharedComputation();
    const missing_items = { ...nothing, info: [`Approval of ${bob()} for penguins.csv`] };
    expect(await missingIn(id)).toEqual(missing_items);
    const cvm = newCvm();
    const refused = await session.refused(start, { path: { id }, query: { cvm } });
    expect(refused).toMatchObject({ status: 422, code: 'incomplete', missing_items });
    expect((await session.call('runs/get-manifest', { path: { id } })).status).toBe(200);

    const approval = await session.approve(id, provider);
    const digests = await session.digestsOf(id);
    expect(approval).toEqual({
      user: bob(),
      ...digests,
      cvm_ids: null,
      expires_at: null,
      max_runs: null,
      used_runs: null,
      approval_id: null,
      journal_head: null,
      signed: false,
      stale: false,
      stale_because: null,
      approved_at: expect.any(String),
    });
    expect(await session.done(list, { path: { id } })).toEqual({
      needed: [{ user: bob(), because: ['penguins.csv'] }],
      approvals: [approval],
      refusals: [],
    });
    expect(await missingIn(id)).toEqual(nothing);
    await session.startRun(id, cvm);
    await session.endRun(cvm);
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'approved' } });
    const details = { ...digests, signed: false };
    expect(events).toMatchObject([{ originator: bob(), status: 'success', details: base64(JSON.stringify(details)) }]);
  });

  itAs([provider], 'has byte for byte the manifest that was approved', async () => {
    const { id } = await sharedComputation();
    const approved = canonicalJson(await session.done('runs/get-manifest', { path: { id }, as: provider }));
    const digest = createHash('sha3-256').update(approved).digest('hex');
    await session.done(approve, { path: { id }, body: await session.digestsOf(id), as: provider });
    const cvm = newCvm();
    const run = await session.startRun(id, cvm);
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed during the run' } });
    const { manifest: ofCvm = {} } = await session.commandFor(cvm, 'run');
    await session.endRun(cvm);
    const { statement } = await session.done('evidence/get-evidence', { path: { id }, query: { run } });
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

  itAs([provider], 'takes an approval, which counts until withdrawn', async () => {
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
    const body = { ...(await session.digestsOf(id)), cvm_ids: [cvm], expires_at: '2099-01-01T00:00:00.000Z' };
    expect(await session.done(approve, { path: { id }, body, as: provider })).toMatchObject(body);
    const other = newCvm();
    const missing_items = { ...nothing, info: [`Approval of ${bob()}, which allows only the CVM ${cvm}`] };
    expect(await session.refused(start, { path: { id }, query: { cvm: other } })).toMatchObject({ status: 422, missing_items });
    const dry = (on?: string) => session.done(dryRun, { path: { id }, query: on === undefined ? {} : { cvm: on } });
    expect(await dry(other)).toEqual({ missing_items });
    expect([await dry(), await dry(cvm)]).toEqual([{ missing_items: nothing }, { missing_items: nothing }]);
    await session.startRun(id, cvm);
    expect((await dry(cvm)).missing_items.info).toEqual([
      expect.stringMatching(/^A run of this computation is active/),
      expect.stringMatching(`^Another run holds the CVM ${cvm}`),
    ]);
    await session.endRun(cvm);
  });

  itAs([provider], 'is refused on a CVM that has another certificate than when the approval named it', async () => {
    const { id } = await sharedComputation();
    const cvm = newCvm();
    const certificate = await newCertificate();
    const register = (certificate: string | null) => session.registerCvm(cvm, { certificate });
    const info = async () => (await session.done(dryRun, { path: { id }, query: { cvm } })).missing_items.info;
    await register(certificate);
    const body = { ...(await session.digestsOf(id)), cvm_ids: [cvm] };
    await session.done(approve, { path: { id }, body, as: provider });
    const another = `Approval of ${bob()}, which allows the CVM ${cvm} only with another certificate`;
    expect(await info()).not.toContain(another);
    await register(null);
    expect(await info()).toContain(another);
    await register(certificate);
    expect(await info()).not.toContain(another);
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

/** The members of a change that nothing fills yet: whom it is about, who made it and when. */
describe('stale_because', () => {
  itAs([provider], 'names what has changed since the approval, with both values, and is null while it counts', async () => {
    const { id, dataset } = await sharedComputation('approval', { name: 'Iris', description: '' });
    const cvm = newCvm();
    const register = (certificate: string | null) => session.registerCvm(cvm, { certificate });
    await register(await newCertificate());
    const { certificate_fingerprint } = await session.done('cvms/get-cvm', { path: { cvmID: cvm } });
    const approveAgain = async (fields: object = {}) =>
      await session.done(approve, { path: { id }, body: { ...(await session.digestsOf(id)), ...fields }, as: provider });
    const because = async () => (await session.done(list, { path: { id } })).approvals[0]?.stale_because;
    const replace = (fields: object) =>
      session.done('computations/update-computation', { path: { id }, body: { name: 'Iris', ...fields } });
    const { datasets } = await session.done('runs/get-manifest', { path: { id } });
    const hash = Buffer.from(datasets[0]?.hash ?? []).toString('hex');
    expect(await approveAgain({ cvm_ids: [cvm] })).toMatchObject({ stale: false, stale_because: null });
    expect(await because()).toBeNull();

    await replace({ name: 'Iris 2', description: 'é'.repeat(201), agent_config: { attested_tls: true }, log_access: 'parties' });
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'updated', limit: 1 } });
    const author = { user: null, by: me(), at: events[0]?.timestamp };
    expect(await because()).toEqual([
      { path: '/configuration/log_access', approved: 'none', current: 'parties', ...author },
      { path: '/configuration/agent_config/attested_tls', approved: false, current: true, ...author },
      { path: '/manifest/name', approved: 'Iris', current: 'Iris 2', ...author },
      { path: '/manifest/description', approved: '', current: expect.stringMatching(/^sha256:[0-9a-f]{64}$/), ...author },
    ]);
    await replace({ log_access: 'none' });
    await session.done('assets/unlink-asset', { path: { id: dataset, computationID: id } });
    expect((await because())?.slice(0, 2)).toMatchObject([
      { path: '/manifest/datasets/0/hash', approved: hash, current: null, user: bob(), by: me() },
      { path: '/manifest/datasets/0/user_key', current: null, user: bob(), by: me() },
    ]);
    await session.link(dataset, id);
    expect(await because()).toBeNull();

    await register(null);
    expect(await because()).toEqual([
      { path: '/cvm_ids/0', approved: certificate_fingerprint, current: null, user: bob(), by: me(), at: expect.any(String) },
    ]);
    const expires_at = '2020-01-01T00:00:00.000Z';
    expect(await approveAgain({ expires_at })).toMatchObject({
      stale_because: [{ path: '/expires_at', approved: expires_at, user: bob(), by: null, at: expires_at }],
    });
  });

  itAs([provider, 'result_consumer', 'viewer'], 'names the receiver in place of another, and who named that user', async () => {
    const carol = session.target.idOf('viewer');
    const dave = session.target.idOf('result_consumer');
    const { id } = await sharedComputation('approval', { name: 'Iris', consumers: [dave] });
    const upload = (as: 'viewer' | 'result_consumer') =>
      session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as });
    await upload('result_consumer');
    await session.approve(id, provider);
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Iris', consumers: [carol] } });
    await upload('viewer');
    const { approvals } = await session.done(list, { path: { id } });
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'updated' } });
    const author = { by: me(), at: events[0]?.timestamp };
    expect(approvals[0]?.stale_because).toMatchObject([
      { path: '/manifest/result_consumers/1/user_key', approved: null, user: carol, ...author },
      { path: '/manifest/result_consumers/1/user_key', current: null, user: dave, ...author },
    ]);
  });
});

describe('a refusal', () => {
  const refuse = (id: string, reason: string, as: typeof provider | 'viewer' | 'administrator' = provider) =>
    session.call(approve, { path: { id }, body: { decision: 'refuse', reason }, as });
  const eventsOf = async (id: string, event_type: string) =>
    (await session.done('events/list-events', { path: { id }, query: { event_type } })).events;

  itAs([provider], 'stands in the place of the approval, in what a run lacks and for the owner', async () => {
    const { id } = await sharedComputation();
    await session.approve(id, provider);
    const answer = await refuse(id, 'Not before the board has met.');
    const refusal = { user: bob(), reason: 'Not before the board has met.', refused_at: expect.any(String) };
    expect(answer).toMatchObject({ status: 201, body: refusal });
    expect(await session.done(list, { path: { id } })).toMatchObject({ approvals: [], refusals: [refusal] });
    const info = [expect.stringMatching(/^\S+ refuses: Not before the board has met\.$/)];
    expect(await missingIn(id)).toEqual({ ...nothing, info });
    expect(await session.refused(start, { path: { id }, query: { cvm: newCvm() } })).toMatchObject({
      status: 422,
      missing_items: { info },
    });
    const refusals = async () => (await session.done('todo/get-todo', {})).refusals.filter((each) => each.computation_id === id);
    await expect.poll(refusals, untilTestEnds).toMatchObject([refusal]);

    await refuse(id, 'Not before the board has met.');
    const [event, ...others] = await eventsOf(id, 'approval_refused');
    expect([event?.originator, JSON.parse(atob(event?.details ?? '')), others]).toEqual([bob(), { reason: refusal.reason }, []]);
    await session.approve(id, provider);
    expect(await missingIn(id)).toEqual(nothing);
    await expect.poll(refusals, untilTestEnds).toEqual([]);
    await refuse(id, 'No.');
    await session.done(withdraw, { path: { id }, as: provider });
    await session.done(withdraw, { path: { id }, as: provider });
    expect(await eventsOf(id, 'approval_withdrawn')).toMatchObject([{ originator: bob(), details: base64('{}') }]);
    expect((await missingIn(id)).info).toEqual([expect.stringMatching(/^Approval of /)]);
  });

  itAs(
    [provider, 'viewer'],
    'is open to named users who have not acted, without a manifest, and blocks nothing else',
    async () => {
      const { id } = await session.createComputation({ providers: [bob()] });
      expect(await refuse(id, 'No.', 'viewer')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect((await refuse(id, 'No data yet.')).status).toBe(201);
      const body = { digest: '0'.repeat(64), configuration_digest: '0'.repeat(64) };
      expect((await session.refused(approve, { path: { id }, body, as: provider })).status).toBe(403);
      const replace = (fields: object) =>
        session.done('computations/update-computation', { path: { id }, body: { name: 'N', ...fields } });
      await replace({ consumers: [session.target.idOf('viewer')] });
      expect((await refuse(id, 'I want no result.', 'viewer')).status).toBe(201);
      expect((await session.done(list, { path: { id } })).refusals).toHaveLength(2);
      expect((await missingIn(id)).info.join()).not.toContain('refuses');
    },
  );

  it.each([
    ['without a reason', { decision: 'refuse' }, '/reason'],
    ['with an empty reason', { decision: 'refuse', reason: '' }, '/reason'],
    ['with an invisible reason', { decision: 'refuse', reason: ' \u200b' }, '/reason'],
    ['with a reason of 1,001 characters', { decision: 'refuse', reason: 'x'.repeat(1001) }, '/reason'],
    ['with a digest', { decision: 'refuse', reason: 'No.', digest: '0'.repeat(64) }, '/digest'],
    ['with another decision', { decision: 'withhold', reason: 'No.' }, '/decision'],
    ['with a reason for an approval', { digest: '0'.repeat(64), configuration_digest: '0'.repeat(64), reason: 'x' }, '/reason'],
  ])('is refused %s', async (_what, body, pointer) => {
    const id = await session.someComputation();
    const { status, errors } = await session.refused(approve, { path: { id }, body });
    expect([status, errors]).toEqual([400, [{ pointer, detail: expect.any(String) }]]);
  });
});

describe('the parties of a computation', () => {
  itAs([provider, 'viewer'], 'are there before they act, invited by name, and tell it by another ETag', async () => {
    const carol = session.target.idOf('viewer');
    const { id } = await session.createComputation({ providers: [bob()], consumers: [carol] });
    const get = () => session.call('computations/get-computation', { path: { id } });
    const owner = { user: me(), parts: ['owner', 'consumer'], invited: false };
    const invited = [
      { user: bob(), parts: ['provider'], invited: true },
      { user: carol, parts: ['consumer'], invited: true },
    ];
    const first = await get();
    expect(first.body).toMatchObject({ parties: [owner, ...invited] });
    const peeked = await session.done('computations/get-computation', { path: { id }, query: { peek: 'true' } });
    expect(peeked).not.toHaveProperty('parties');
    const mine = async (as: typeof provider | 'viewer') =>
      (await session.done('todo/get-todo', { as })).invitations.filter((each) => each.computation_id === id);
    const invitation = { computation_id: id, owner: me() };
    const ofBoth = async () => [await mine(provider), await mine('viewer')];
    await expect
      .poll(ofBoth, untilTestEnds)
      .toMatchObject([[{ ...invitation, expected: ['provider'] }], [{ ...invitation, expected: ['consumer'] }]]);

    await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: 'viewer' });
    const refusal = { decision: 'refuse', reason: 'No.' };
    await session.done(approve, { path: { id }, body: refusal, as: provider });
    const then = await get();
    expect(then.body).toMatchObject({ parties: [owner, ...invited.map((each) => ({ ...each, invited: false }))] });
    expect(then.headers.get('etag')).not.toBe(first.headers.get('etag'));
    await expect.poll(ofBoth, untilTestEnds).toEqual([[], []]);
  });
});

describe('log_access', () => {
  itAs([provider], 'is none, stays if left out, and makes approvals stale when it changes', async () => {
    const { id } = await sharedComputation('approval');
    await session.approve(id, provider);
    const replace = async (fields: object) =>
      await session.done('computations/update-computation', { path: { id }, body: { name: 'N', ...fields } });
    const { log_access } = await session.done('computations/get-computation', { path: { id } });
    expect(log_access).toBe('none');
    expect(await replace({ log_access: 'parties' })).toMatchObject({ log_access: 'parties' });
    expect(await replace({})).toMatchObject({ log_access: 'parties' });
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ stale: true }]);
    expect(
      await session.refused('computations/update-computation', { path: { id }, body: { name: 'N', log_access: 'all' } }),
    ).toMatchObject({
      errors: [{ pointer: '/log_access', detail: 'Expected none or parties.' }],
    });
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
    const { publicKey: uploaded, privateKey } = generateKeyPairSync('ed25519');
    const digests = await session.digestsOf(id);
    const { digest: manifest_digest, configuration_digest } = digests;
    const [event] = (await session.done('events/list-events', { path: { id } })).events;
    const journal_head = { id: event?.id ?? '', hash: event?.hash ?? '' };
    const limits = { cvm_ids: ['b', 'a'], expires_at: '2099-01-01T00:00:00.000Z', journal_head };
    const names = { type: 'computation-approval', domain: session.target.domain, computation: id, approver: bob() };
    const text = canonicalJson({ ...names, manifest_digest, configuration_digest });
    const signed = (of: string) => sign(null, Buffer.from(of), privateKey).toString('base64');
    const send = (body: object) => ({ path: { id }, body: { ...digests, ...body }, as: provider }) as const;
    const invalid = { status: 400, code: 'invalid_request', errors: [{ pointer: '/signature' }] };

    expect(await session.refused(approve, send({ signature: signed(text) }))).toMatchObject(invalid); // no key yet
    const key = base64(uploaded.export({ format: 'pem', type: 'spki' }).toString());
    await session.done('keys/upload-key', { path: { id }, body: { key }, as: provider });
    expect(await session.refused(approve, send({ signature: signed(`${text}x`) }))).toMatchObject(invalid);
    expect(await session.refused(approve, send({ ...limits, signature: signed(text) }))).toMatchObject(invalid);
    expect(await session.refused(approve, send({ signature: 'not base64' }))).toMatchObject(invalid);
    expect(await session.refused(approve, send({}))).toMatchObject(invalid);
    expect((await session.done(list, { path: { id } })).approvals).toEqual([]);
    expect((await missingIn(id)).info).toContain(`Approval of ${bob()} for penguins.csv`);
    const signature = signed(canonicalJson({ ...names, manifest_digest, configuration_digest, ...limits }));
    expect(await session.done(approve, send({ ...limits, signature }))).toMatchObject({ ...limits, signed: true, stale: false });
    const unlimited = { signature: signed(text), cvm_ids: null, expires_at: null };
    expect(await session.done(approve, send(unlimited))).toMatchObject({ cvm_ids: null, signed: true });
    expect((await missingIn(id)).info).not.toContain(`Approval of ${bob()} for penguins.csv`);

    await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: provider });
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ user: bob(), signed: true, stale: true }]);
    expect((await missingIn(id)).info).toContain(`Approval of ${bob()} for penguins.csv`);

    for (const other of [{ hash: '0'.repeat(64) }, { id: (await session.createComputation()).id }]) {
      const refused = await session.refused(approve, send({ journal_head: { ...journal_head, ...other }, signature }));
      expect(refused).toMatchObject({ status: 409, code: 'conflict', reason: 'unknown_event' });
    }
    for (const later of [{ max_runs: 3 }, { approval_id: randomUUID() }])
      expect(await session.refused(approve, send({ ...later, signature }))).toMatchObject({ status: 400 });

    // Nobody else can use the signature or the key of a standing approval.
    await session.done('keys/upload-key', { path: { id }, body: { key } });
    const { digest, ...now } = await session.digestsOf(id);
    for (const [approver, detail] of [
      [bob(), 'Expected a signature by the key'],
      [me(), 'Another user has signed'],
    ] as const) {
      const signature = signed(canonicalJson({ ...names, approver, manifest_digest: digest, ...now }));
      const refused = await session.refused(approve, { path: { id }, body: { digest, ...now, signature } });
      expect(refused).toMatchObject({ ...invalid, errors: [{ detail: expect.stringContaining(detail) }] });
    }
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
      const body = await session.digestsOf(id);
      for (const as of ['viewer', 'result_consumer'] as const) {
        expect(await session.refused(approve, { path: { id }, body, as })).toMatchObject({ status: 403, code: 'forbidden' });
      }
      await session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: 'result_consumer' });
      expect(await session.approve(id, 'result_consumer')).toMatchObject({ user: session.target.idOf('result_consumer') });
      await session.done(withdraw, { path: { id }, as: 'viewer' });
      expect((await session.done(list, { path: { id }, as: 'viewer' })).approvals).toHaveLength(3);
    },
  );

  it('of another digest is refused with the present digests, and without a manifest with the missing items', async () => {
    const id = await session.readyComputation();
    const { digest, configuration_digest } = await session.digestsOf(id);
    const other = '0'.repeat(64);
    for (const given of [{ digest: other }, { configuration_digest: other }, { digest: configuration_digest }]) {
      const body = { digest, configuration_digest, signature: 'AAAA', ...given };
      const refused = await session.refused(approve, { path: { id }, body });
      const current = { manifest_digest: digest, configuration_digest };
      expect(refused).toMatchObject({ status: 409, code: 'conflict', reason: 'stale_digest', ...current });
    }
    const body = { digest: other, configuration_digest: other };
    const { id: incomplete } = await session.createComputation();
    const none = await session.refused(approve, { path: { id: incomplete }, body });
    expect(none).toMatchObject({ status: 422, code: 'incomplete', missing_items: { info: ['Missing algorithm'] } });
    expect((await session.refused(approve, { path: { id: absent }, body })).status).toBe(404);
  });

  itAs([provider], 'becomes stale when the configuration changes or the approval is raised', async () => {
    const agent_config = { attested_tls: true };
    const { id } = await sharedComputation('approval', { agent_config });
    await session.approve(id, provider);
    const isStaleAfter = async (fields: object) => {
      const { name } = await session.done('computations/get-computation', { path: { id } });
      const digest = await session.digestOf(id);
      await session.done('computations/update-computation', { path: { id }, body: { name, ...fields } });
      expect(await session.digestOf(id)).toBe(digest); // the manifest does not show the change
      const stale = (await session.done(list, { path: { id } })).approvals.map((each) => each.stale);
      expect([(await missingIn(id)).info.length > 0]).toEqual(stale);
      return stale;
    };
    expect(await isStaleAfter({ agent_config: { ...agent_config, log_level: 'debug' } })).toEqual([false]);
    expect(await isStaleAfter({})).toEqual([true]);
    expect(await isStaleAfter({ agent_config })).toEqual([false]);
    expect(await isStaleAfter({ agent_config, approval: 'all' })).toEqual([true]);
  });

  it('given twice is recorded once, and the last one counts', async () => {
    const id = await session.readyComputation();
    const first = await session.approve(id);
    expect(await session.approve(id)).toEqual(first);
    const body = { ...(await session.digestsOf(id)), cvm_ids: ['cvm-1'] };
    expect(await session.done(approve, { path: { id }, body })).toMatchObject({ cvm_ids: ['cvm-1'] });
    expect((await session.done(list, { path: { id } })).approvals).toMatchObject([{ cvm_ids: ['cvm-1'] }]);
    const { total } = await session.done('events/list-events', { path: { id }, query: { event_type: 'approved' } });
    expect(total).toBe(2);
    for (let time = 1; time <= 2; time++) expect((await session.call(withdraw, { path: { id } })).status).toBe(204);
    const withdrawn = await session.done('events/list-events', { path: { id }, query: { event_type: 'approval_withdrawn' } });
    expect(withdrawn.total).toBe(1);
  });

  it.each([
    ['no digest', { digest: undefined }, '/digest'],
    ['no digest of the configuration', { configuration_digest: undefined }, '/configuration_digest'],
    ['a digest in capitals', { digest: 'AB'.repeat(32) }, '/digest'],
    ['a digest of the configuration in capitals', { configuration_digest: 'AB'.repeat(32) }, '/configuration_digest'],
    ['a CVM that is no identifier', { cvm_ids: ['a/b'] }, '/cvm_ids/0'],
    ['a CVM twice', { cvm_ids: ['a', 'a'] }, '/cvm_ids'],
    ['no CVM', { cvm_ids: [] }, '/cvm_ids'],
    ['a time without milliseconds', { expires_at: '2099-01-01T00:00:00Z' }, '/expires_at'],
    ['an unknown field', { x: 1 }, '/x'],
  ])('with %s is 400', async (_what, body, pointer) => {
    const id = await session.someComputation();
    const zeros = { digest: '0'.repeat(64), configuration_digest: '0'.repeat(64) };
    const { status, errors } = await session.refused(approve, { path: { id }, body: { ...zeros, ...body } });
    expect([status, errors?.[0]?.pointer]).toEqual([400, pointer]);
  });
});

describe('the result consumers of a computation', () => {
  itAs(['result_consumer', 'viewer'], 'are the owner and those whom it names', async () => {
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
    expect((await replace({})).consumers).toHaveLength(2);
    expect((await replace({ consumers: [] })).consumers).toEqual([]);
    expect(await count()).toBe(2);
  });
});

describe('the providers of a computation', () => {
  itAs([provider, 'viewer'], 'are the only users beside the owner who may link assets', async () => {
    const id = await session.readyComputation({ providers: [session.target.idOf('viewer')] });
    const dataset = await session.createAsset({}, provider);
    const link = { path: { id: dataset.id, computationID: id }, as: provider } as const;
    const replace = (fields: object) =>
      session.done('computations/update-computation', { path: { id }, body: { name: 'N', ...fields } });
    expect((await replace({})).providers).toEqual([session.target.idOf('viewer')]);
    const detail = 'The computation names its `providers`, and you are not among them. Ask its owner to add you.';
    expect(await session.refused('assets/link-asset', link)).toMatchObject({ status: 403, code: 'forbidden', detail });
    await session.link(dataset.id, id);
    await session.done('assets/unlink-asset', link);
    expect(await replace({ providers: [bob(), bob()] })).toMatchObject({ providers: [bob()] });
    await session.done('assets/link-asset', link);
    await replace({ providers: [me()] });
    await session.done('assets/unlink-asset', link);
    expect((await session.refused('assets/link-asset', link)).status).toBe(403);
    await replace({ providers: [] });
    await session.done('assets/link-asset', link);
  });
});

describe('a key that is removed', () => {
  itAs([provider, 'viewer'], 'takes the approval of its user with it', async () => {
    const { id } = await sharedComputation();
    const remove = 'keys/remove-key';
    const upload = () => session.done('keys/upload-key', { path: { id }, body: { key: publicKey() }, as: provider });
    const ofBob = { path: { id }, query: { user: bob() } };
    await upload();
    await session.approve(id, provider);
    expect((await session.refused(remove, { ...ofBob, as: 'viewer' })).status).toBe(403);
    await session.done(remove, ofBob);
    expect((await session.done(list, { path: { id } })).approvals).toEqual([]);
    expect(await session.done('keys/check-key', { path: { id }, as: provider })).toEqual({ uploaded: false });
    const { events } = await session.done('events/list-events', { path: { id }, query: { event_type: 'key_removed' } });
    expect(events).toMatchObject([{ originator: me(), status: 'success' }]);
    expect(JSON.parse(atob(events[0]?.details ?? ''))).toEqual({ user: bob(), fingerprint: expect.any(String) });
    await upload();
    await session.done(remove, { path: { id }, as: provider });
    for (const request of [ofBob, { path: { id }, query: { user: 'nobody' } }, { path: { id }, as: provider } as const]) {
      expect((await session.call(remove, request)).status).toBe(204);
    }
    const { total } = await session.done('events/list-events', { path: { id }, query: { event_type: 'key_removed' } });
    expect(total).toBe(2);
  });
});

describe('an editor who names themselves as a consumer', () => {
  itAs([provider, 'editor'], 'becomes a result consumer, makes approvals stale, and is in the journal', async () => {
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
  itAs([provider], 'makes the same manifest, and the evidence shows who made it', async () => {
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
    const { statement } = await session.done('evidence/get-evidence', { path: { id }, query: { run } });
    expect(statement.assets).toMatchObject([{}, { id: double.id, creator: me(), checksum, use: 'open' }]);
  });
});

describe('the creator of an asset that an active run uses', () => {
  itAs([provider, 'viewer'], 'may stop it, even after unlinking, and nobody else may', async () => {
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
    const todo = () => session.done('todo/get-todo', { as: provider });
    await expect.poll(todo, untilTestEnds).toEqual({
      approvals: expect.arrayContaining([
        { computation_id: id, name, because: ['penguins.csv'], manifest_digest: await session.digestOf(id) },
        ...before.approvals,
      ]),
      keys: expect.arrayContaining([{ computation_id: other, name }, ...before.keys]),
      content: [{ asset_id: pending.id, file_name: pending.file_name }, ...before.content],
      reviews: [],
      refusals: before.refusals,
      invitations: before.invitations,
      totals: {
        approvals: before.approvals.length + 1,
        keys: before.keys.length + 1,
        content: before.content.length + 1,
        reviews: 0,
        refusals: before.refusals.length,
        invitations: before.invitations.length,
      },
      as_of: expect.any(String),
    });
    await session.approve(id, provider);
    await session.done('keys/upload-key', { path: { id: other }, body: { key: publicKey() }, as: provider });
    await expect.poll(todo, untilTestEnds).toMatchObject({ approvals: before.approvals, keys: before.keys });
  });

  itAs([provider], 'filters the list of computations, by status too, and sorts it by the last change', async () => {
    const list = (query: object, as?: typeof provider) =>
      session.done('computations/list-computations', { query: { limit: '100', ...query }, ...(as && { as }) });
    const ids = async (query: object, as?: typeof provider) => (await list(query, as)).computations.map(({ id }) => id);
    const { id: older } = await session.createComputation({ providers: [bob()] });
    const { id: newer } = await session.createComputation({ providers: [bob()] });
    for (const query of [{ waiting_for: 'me' }, { waiting_for: 'me', status: 'created' }])
      await expect.poll(() => ids(query, provider), untilTestEnds).toEqual(expect.arrayContaining([newer, older]));
    expect(await ids({ waiting_for: bob(), limit: '1' })).toEqual([newer]);
    expect(await ids({ waiting_for: bob(), status: 'running' })).not.toContain(newer);

    const body = { name: 'Changed', providers: [bob()] };
    await session.done('computations/update-computation', { path: { id: older }, body });
    for (const query of [{ sort: 'updated' }, { sort: 'updated', waiting_for: bob() }])
      await expect.poll(async () => (await ids(query)).slice(0, 2), untilTestEnds).toEqual([older, newer]);
    await session.done('computations/update-computation', { path: { id: older }, body: { ...body, providers: [] } });
    await expect.poll(() => ids({ waiting_for: bob() }), untilTestEnds).not.toContain(older);

    const pending = await session.createAsset({ asset: undefined, user_key: publicKey() }, provider);
    await session.link(pending.id, older);
    await expect.poll(() => ids({ waiting_for: bob() }), untilTestEnds).toContain(older);
    await session.done('assets/unlink-asset', { path: { id: pending.id, computationID: older }, as: provider });
    await expect.poll(() => ids({ waiting_for: bob() }), untilTestEnds).not.toContain(older);

    for (const query of [
      { waiting_for: 'me', owner: me() },
      { sort: 'updated', owner: me() },
      { sort: 'updated', status: 'created' },
      { sort: 'updated', status: 'created', waiting_for: 'me' },
      { sort: 'created' },
      { waiting_for: '' },
    ])
      expect(await session.refused('computations/list-computations', { query })).toMatchObject({ status: 400 });
  });
});
