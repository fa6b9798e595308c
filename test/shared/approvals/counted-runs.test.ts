import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { detailsIn } from 'computation-management-formats/bytes';
import { describe, expect, it } from 'vitest';
import type { ApprovalInput } from '../../../shared/approvals/approval.ts';
import { withdrawApproval, refuse } from '../../../shared/approvals/approve.ts';
import { listApprovals } from '../../../shared/approvals/list-approvals.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { removeKey, uploadKey } from '../../../shared/keys/participant-keys.ts';
import { recordOutcome } from '../../../shared/lifecycle/run-steps.ts';
import { assertNotRevoked, parseActs } from '../../../shared/rows/run-acts.ts';
import { readComputation, fieldsOf } from '../../../shared/rows/computation.ts';
import { isActive } from '../../../shared/rows/run.ts';
import { parseSnapshot } from '../../../shared/rows/run-snapshot.ts';
import { readReadiness } from '../../../shared/runs/dry-run.ts';
import { ServiceError } from '../../../shared/runtime/errors.ts';
import { runKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import {
  allowed,
  anAgentEvent,
  anApproval,
  aRun,
  aSharedComputation,
  byAlice,
  endRunWith,
  noKey,
  startStores,
} from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(() => startStores({ bySdk: true }));
const domain = 'd1';
const { now } = byAlice;
const byBob = { by: 'bob', now, permit: allowed };
const later = '2099-01-01T00:00:00.000Z';

const counted = (max_runs: number, more: Partial<ApprovalInput> = {}) => ({ max_runs, approval_id: randomUUID(), ...more });
const approve = (id: string, given: Partial<ApprovalInput> = {}) => anApproval(stores, domain, id, 'bob', given);
const withdraw = (computationId: string) => withdrawApproval(stores.table, { domain, computationId, ...byBob });
const doRefuse = (computationId: string) =>
  refuse(stores.table, { domain, computationId, given: { decision: 'refuse', reason: randomUUID() }, ...byBob });
const rename = (id: string) =>
  updateComputation(stores.table, {
    domain,
    id,
    by: 'alice',
    now,
    seal: noKey,
    decide: (row, definition) => ({
      fields: { ...fieldsOf(row, row), name: row.name === 'Iris' ? 'Setosa' : 'Iris' },
      agent_config: defaultAgentConfig,
      attestation_policy: definition.attestation_policy,
      result_review: definition.result_review,
      consumers: definition.consumers,
      providers: definition.providers,
      permitted: allowed(),
    }),
  });

const infoOf = async (id: string) => (await readReadiness(stores.table, { domain, id, at: now })).missing.info;
const ofBob = async (id: string) => {
  const { approvals } = await listApprovals(stores.table, domain, id, now);
  return approvals.find(({ user }) => user === 'bob');
};
const endUnaccepted = async (id: string, cvm_id: string, run_id: string) => {
  const run = { domain, computation_id: id, run_id, cvm_id };
  await recordOutcome(stores.table, stores.executions, { run, endedBy: 'not_accepted' }, now);
};
const actsOf = async (id: string, run: string) => parseActs(await getItem(stores.table, runKeys.acts(id, run)));
const approvalsOfRun = async (id: string, run: string) =>
  parseSnapshot([await getItem(stores.table, runKeys.snapshot(id, run))]).approvals;

/** Tells whether a release of a key to the run could pass as far as approvals are concerned. */
async function mayRelease(id: string, run: string, at = now): Promise<boolean> {
  return await transact(stores.table, [assertNotRevoked({ computation_id: id, run_id: run }, at)]).then(
    () => true,
    () => false,
  );
}

describe('an approval for a number of runs', () => {
  it('counts each run, is used up after the last, and says so', async () => {
    const { id } = await aSharedComputation(stores, domain);
    const given = counted(2);
    await approve(id, given);
    for (const use of [1, 2]) {
      expect(await ofBob(id)).toMatchObject({ max_runs: 2, used_runs: use - 1, approval_id: given.approval_id, stale: false });
      const run = await aRun(stores, domain, id, 'cvm-counted');
      expect(await approvalsOfRun(id, run)).toMatchObject([{ ...given, use }]);
      expect(await mayRelease(id, run)).toBe(true);
      await endRunWith(stores, domain, run);
    }
    expect(await infoOf(id)).toEqual(['Approval of bob, for 2 runs, all used']);
    await expect(aRun(stores, domain, id, 'cvm-counted')).rejects.toMatchObject({ code: 'incomplete' });
    const used = { path: '/max_runs', approved: 2, current: 2, user: 'bob', by: null, at: null };
    expect(await ofBob(id)).toMatchObject({ used_runs: 2, stale: true, stale_because: [used] });
    await approve(id, counted(1));
    expect(await ofBob(id)).toMatchObject({ used_runs: 0, stale: false });
    await endRunWith(stores, domain, await aRun(stores, domain, id, 'cvm-counted'));
    expect(await infoOf(id)).toEqual(['Approval of bob, for 1 run, all used']);
  });

  it('gets a run back that no CVM accepted, and its last event says so', async () => {
    const { id } = await aSharedComputation(stores, domain);
    await approve(id, counted(1));
    const run = await aRun(stores, domain, id, 'cvm-back');
    expect(await ofBob(id)).toMatchObject({ used_runs: 1, stale: true });
    await endUnaccepted(id, 'cvm-back', run);
    expect(await ofBob(id)).toMatchObject({ used_runs: 0, stale: false });
    await endRunWith(stores, domain, await aRun(stores, domain, id, 'cvm-back'), ['Stopped', 'Stopped']);
    expect(await ofBob(id)).toMatchObject({ used_runs: 0, stale: false });
    const accepted = await aRun(stores, domain, id, 'cvm-back');
    await endRunWith(stores, domain, accepted);
    const ends = (await journalOf(id)).filter(({ event_type }) => ['failed', 'cancelled', 'completed'].includes(event_type));
    expect(ends.map(({ details }) => details['accepted'])).toEqual([false, false, undefined]);
    expect(await ofBob(id)).toMatchObject({ used_runs: 1 });
  });

  it('gives nothing back to a later approval', async () => {
    const { id } = await aSharedComputation(stores, domain);
    await approve(id, counted(1));
    const run = await aRun(stores, domain, id, 'cvm-later');
    await approve(id, counted(1));
    await endUnaccepted(id, 'cvm-later', run);
    expect(await ofBob(id)).toMatchObject({ used_runs: 0, max_runs: 1 });
  });

  it('has an identifier that no other approval of the domain had, not even one that is gone', async () => {
    const [one, other] = [await aSharedComputation(stores, domain), await aSharedComputation(stores, domain)];
    const given = counted(2);
    await approve(one.id, given);
    await approve(one.id, given); // the same again
    const pointer = { code: 'invalid_request', extras: { errors: [{ pointer: '/approval_id' }] } };
    await expect(approve(one.id, { ...given, max_runs: 3 })).rejects.toMatchObject(pointer);
    await expect(approve(other.id, given)).rejects.toMatchObject(pointer);
    await withdraw(one.id);
    await expect(approve(one.id, given)).rejects.toMatchObject(pointer);
  });
});

describe('what a user does during a run', () => {
  it.each<[string, string | undefined, (id: string) => Promise<unknown>]>([
    ['a withdrawal', 'withdrew', withdraw],
    ['a refusal', 'refused', doRefuse],
    ['an approval of another CVM', 'replaced', (id) => approve(id, { cvm_ids: ['elsewhere'] })],
    ['an approval that has expired', 'replaced', (id) => approve(id, { expires_at: '2020-01-01T00:00:00Z' })],
    ['an approval of a later manifest', 'replaced', async (id) => (await rename(id), await approve(id))],
    ['a withdrawal that an approval follows', 'withdrew', async (id) => (await withdraw(id), await approve(id))],
    ['an approval that counts too', undefined, (id) => approve(id, counted(1))],
    ['a change of the computation', undefined, rename],
    ['the same approval again', undefined, (id) => approve(id)],
    ['the removal of the own key', 'withdrew', (id) => remove(id, 'bob')],
    ['the removal of the key by the owner', undefined, (id) => remove(id, 'alice')],
    ['the removal of another own key after that', 'withdrew', removeAfterOwner],
    ['a withdrawal after that', 'withdrew', async (id) => (await remove(id, 'alice'), await withdraw(id))],
  ])('is kept of %s', async (_what, act, work) => {
    const { id } = await aSharedComputation(stores, domain);
    await approve(id);
    const run = await aRun(stores, domain, id, randomUUID());
    expect(await mayRelease(id, run)).toBe(true);
    await work(id);
    expect((await actsOf(id, run)).revoked?.['bob']).toBe(act);
    expect(await mayRelease(id, run)).toBe(act === undefined);
    await endRunWith(stores, domain, run);
  });

  it('is kept of an approval that expires during the run, until a later one replaces it', async () => {
    const { id } = await aSharedComputation(stores, domain);
    await approve(id);
    const run = await aRun(stores, domain, id, 'cvm-expiry');
    await approve(id, { expires_at: '2098-01-01T02:00:00+02:00' });
    expect([await mayRelease(id, run), await mayRelease(id, run, later)]).toEqual([true, false]);
    await approve(id, { expires_at: '2100-01-01T00:00:00Z' });
    expect(await mayRelease(id, run, later)).toBe(true);
    await withdraw(id);
    expect(await mayRelease(id, run)).toBe(false);
  });

  it('is not kept of a user whose approval the start did not need', async () => {
    const { id } = await aSharedComputation(stores, domain, 'open');
    await approve(id);
    const run = await aRun(stores, domain, id, 'cvm-open');
    await withdraw(id);
    expect(await actsOf(id, run)).toEqual({});
  });
});

const remove = (computationId: string, by: string) =>
  removeKey(stores.table, { domain, computationId, user: 'bob', by, now, permitOther: () => undefined });

const removeAfterOwner = async (id: string) => {
  await remove(id, 'alice');
  await upload(id);
  await remove(id, 'bob');
};

async function journalOf(id: string) {
  const { events } = await readEvents(stores.table, id, {}, { limit: 1_000, offset: 0 });
  return events.toReversed().map((event) => ({ ...event, details: detailsIn(event.details) }));
}

type Random = (below: number) => number;

/** Returns a function that makes the same numbers for the same seed (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const user_key = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
const upload = (id: string) =>
  uploadKey(stores.table, domain, id, { user_id: 'bob', user_key, fingerprint: '', is_consumer: false, uploaded_at: now });

/** The acts of a history. Each may be refused, as users are, but may not fail in another way. */
const acts: Record<string, (id: string, cvm: string) => Promise<unknown>> = {
  approve: (id) => approve(id),
  'approve one run': (id) => approve(id, counted(1)),
  'approve two runs': (id) => approve(id, counted(2)),
  'approve another CVM': (id) => approve(id, { cvm_ids: ['elsewhere'] }),
  withdraw,
  refuse: doRefuse,
  rename,
  'remove the key': (id) => remove(id, 'bob'),
  'upload the key': upload,
  start: (id, cvm) => aRun(stores, domain, id, cvm),
  'start at once': (id, cvm) => aRun(stores, domain, id, `${cvm}-2`),
  accept: (id, cvm) => withActiveRun(id, (run) => report(cvm, [anAgentEvent(run, `accepted ${run}`)])),
  end: (id) => withActiveRun(id, (run) => endRunWith(stores, domain, run)),
  'end, not accepted': (id) => withActiveRun(id, (run, cvm_id) => endUnaccepted(id, cvm_id, run)),
};

const report = (cvmId: string, reports: ReturnType<typeof anAgentEvent>[]) =>
  recordReports(stores.table, stores.executions, { domain, cvmId, reports, now });

async function withActiveRun(id: string, act: (run: string, cvm: string) => Promise<unknown>): Promise<void> {
  const { run, status } = await readComputation(stores.table, domain, id);
  if (run && isActive(status)) await act(run.id, run.cvm_id);
}

/** Does acts at once, and ignores that some are refused. */
async function attempt(id: string, cvm: string, names: string[]): Promise<void> {
  const results = await Promise.allSettled(names.map(async (name) => await acts[name]?.(id, cvm)));
  for (const result of results) if (result.status === 'rejected' && !(result.reason instanceof ServiceError)) throw result.reason;
}

/** Says what is wrong with the runs of a computation, seen from its journal. Empty: nothing. */
async function faultsOf(id: string): Promise<string[]> {
  const journal = await journalOf(id);
  const runs = journal.filter(({ event_type }) => event_type === 'started').map(({ run_id }) => run_id);
  const uses: string[] = [];
  const faults: string[] = [];
  for (const run of runs) {
    const [approval] = await approvalsOfRun(id, run);
    const start = journal.findIndex(({ event_type, run_id }) => event_type === 'started' && run_id === run);
    const end = journal.findIndex((event, at) => at > start && event.run_id === run && event.originator === 'system');
    const ofBob = ['approved', 'approval_withdrawn', 'approval_refused', 'key_removed'];
    const isOfBob = ({ event_type, originator }: { event_type: string; originator: string }) =>
      originator === 'bob' && ofBob.includes(event_type);
    const last = journal.slice(0, start).findLast(isOfBob);
    if (!approval || last?.event_type !== 'approved' || last.details['approval_id'] !== (approval.approval_id ?? undefined)) {
      faults.push(`${run} started on ${JSON.stringify(last)}`);
      continue;
    }
    const during = journal.slice(start + 1, end < 0 ? undefined : end).filter(isOfBob);
    const revokes = during.some(({ event_type, details }) => {
      if (event_type !== 'approved') return true;
      return details['digest'] !== approval.digest || details['cvm_ids'] !== undefined;
    });
    if ((await mayRelease(id, run)) === revokes) faults.push(`${run} ${revokes ? 'may' : 'may not'} get keys`);
    const isUnused = end >= 0 && journal[end]?.details['accepted'] === false;
    if (approval.max_runs !== null && !isUnused) uses.push(`${String(approval.approval_id)} ${approval.use}`);
    if ((approval.use ?? 0) > (approval.max_runs ?? Infinity)) faults.push(`${run} is a run too many`);
  }
  const twice = uses.filter((use, index) => uses.indexOf(use) !== index);
  const given = await ofBob(id);
  const used = uses.filter((use) => use.startsWith(`${String(given?.approval_id)} `)).length;
  if ((given?.used_runs ?? 0) !== used) faults.push(`${given?.used_runs} runs used, not ${used}`);
  return [...faults, ...twice.map((use) => `two runs are ${use}`)];
}

describe('a history of approvals and runs, generated', () => {
  const [histories, length] = [amount({ sample: 2, full: 600 }), 6];
  const all = Object.keys(acts);
  const ends = ['end', 'end, not accepted', 'end, not accepted', 'accept'];
  /** Most histories would be refusals if each act were as likely as another. */
  const steps = (random: Random) => [
    [one(random, ['approve two runs', 'upload the key', 'start', 'start'])],
    ['start', ...Array.from({ length: random(3) }, () => one(random, all))],
    Array.from({ length: 1 + random(2) }, () => one(random, [...ends, ...ends, ...all])),
  ];

  it(`of ${histories} × ${length} steps has no run too many, and no key after an approval was taken back`, async () => {
    for (let seed = sampleSeed; seed < sampleSeed + histories; seed++) {
      const random = randomOf(seed);
      const { id } = await aSharedComputation(stores, domain);
      await upload(id);
      const done = [['approve two runs']];
      await approve(id, counted(2));
      for (let step = 0; step < length; step++) {
        const next = steps(random);
        done.push(...next);
        for (const names of next) await attempt(id, `cvm-${seed}`, names);
        expect({ seed, done, faults: await faultsOf(id) }).toEqual({ seed, done, faults: [] });
      }
      await withActiveRun(id, (run) => endRunWith(stores, domain, run));
    }
  });
});

const one = (random: Random, names: readonly string[]) => names[random(names.length)] ?? '';
