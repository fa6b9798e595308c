import { describe, expect, it } from 'vitest';
import { changeCvm, removeCvm, deleteCvm, registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { readClaim } from '../../../shared/rows/claim.ts';
import { listCommands } from '../../../shared/cvms/list-commands.ts';
import { recordOutcome } from '../../../shared/lifecycle/run-steps.ts';
import { recordReports } from '../../../shared/cvms/record-reports.ts';
import type { Report } from '../../../shared/cvms/report.ts';
import { startRun } from '../../../shared/runs/start-run.ts';
import { cvmBody } from '../../../shared/openapi/examples.ts';
import { cvmKeys } from '../../../shared/table/keys.ts';
import { Transaction, StaleReadError } from '../../../shared/table/transaction.ts';
import { allowed, aReadyComputation, aRun, byAlice, endRunWith, startStores } from '../../support/builders-store.ts';
import { asReadBefore, beforeTheNextTransaction, betweenReads } from '../../support/interleave.ts';
import { inconsistencies, scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { cvmEtag, listCvms, readCvm, readCvmAndClaim } from '../../../shared/cvms/read-cvms.ts';

const stores = sharedByTests(startStores);

const start = Date.parse(byAlice.now);
const at = (seconds: number) => new Date(start + seconds * 1_000).toISOString();
const now = at(0);
let domains = 0;
const newDomain = () => `d${++domains}`;

const register = (domain: string, cvmId: string, description = '', when = now) =>
  registerCvm(stores.table, { by: 'root', domain, cvmId, given: { description }, now: when });
const poll = (domain: string, cvmId: string, when = now) => listCommands(stores.table, domain, cvmId, when);
const report = (domain: string, cvmId: string, reports: Report[], when = now) =>
  recordReports(stores.table, stores.executions, { domain, cvmId, reports, now: when });
const beat = (domain: string, cvmId: string, said: Partial<Report>, when = now) =>
  report(domain, cvmId, [{ type: 'heartbeat', ...said } as Report], when);
const presence = async (domain: string, cvmId: string, when = now) =>
  (await readCvm(stores.table, { domain, cvmId }, when)).presence;
const idsOf = async (domain: string) =>
  (await listCvms(stores.table, domain, { limit: 100, offset: 0, now })).cvms.map(({ id }) => id);
const startOn = (domain: string, cvmId: string, computationId: string, when = now) =>
  startRun(stores.table, stores.executions, { domain, computationId, cvmId, by: 'alice', now: when, permit: allowed });
const isConsistent = async () => expect(inconsistencies(await scan(stores.table))).toEqual([]);

describe('the registration of a CVM', () => {
  it('takes two equal first requests at once, of a CVM without a key so far', async () => {
    const domain = newDomain();
    await register(domain, 'cvm-1');
    const put = (cvmId: string) => registerCvm(stores.table, { by: 'root', domain, cvmId, given: cvmBody, now });
    asReadBefore(stores.mortal, cvmKeys.cvm(domain, 'cvm-1'), () => put('cvm-1'));
    const late = await registerCvm(stores.mortal, { by: 'root', domain, cvmId: 'cvm-1', given: cvmBody, now });
    expect(late).toMatchObject({ cvm: { certificate: cvmBody.certificate } });
    await expect(put('cvm-2')).rejects.toMatchObject({ code: 'conflict' });
    await isConsistent();
  });
});

describe('the list of CVMs', () => {
  it('has pages of the newest first, with the exact total, also after many were removed', async () => {
    const domain = newDomain();
    const all = Array.from({ length: 60 }, (_, index) => `cvm-${index}`);
    for (const cvm of all) await register(domain, cvm);
    for (const cvm of all.slice(10, 50)) await deleteCvm(stores.table, { domain, cvmId: cvm, now });
    const left = [...all.slice(0, 10), ...all.slice(50)].reverse();
    for (const offset of [0, 7, 15, 20]) {
      const page = await listCvms(stores.table, domain, { limit: 10, offset, now });
      expect([page.cvms.map(({ id }) => id), page.total]).toEqual([left.slice(offset, offset + 10), 20]);
    }
    await isConsistent();
  });

  it('shows the presence of each CVM', async () => {
    const domain = newDomain();
    for (const cvm of ['never-heard', 'heard']) await register(domain, cvm);
    await beat(domain, 'heard', { agent_state: 'Running', fit: 'busy' });
    const { cvms } = await listCvms(stores.table, domain, { limit: 10, offset: 0, now });
    expect(cvms.map((cvm) => [cvm.id, cvm.presence.state, cvm.presence.agent_state])).toEqual([
      ['heard', 'connected', 'Running'],
      ['never-heard', 'disconnected', null],
    ]);
  });

  it('omits a CVM that is removed and registered again while the page is read', async () => {
    const domain = newDomain();
    await register(domain, 'cvm-1');
    betweenReads(stores.mortal, { afterThis: 'Query', beforeThat: 'BatchGet' }, async () => {
      await deleteCvm(stores.table, { domain, cvmId: 'cvm-1', now });
      await register(domain, 'cvm-1');
    });
    expect((await listCvms(stores.mortal, domain, { limit: 10, offset: 0, now })).cvms).toEqual([]);
    expect(await idsOf(domain)).toEqual(['cvm-1']);
  });
});

describe('a registered CVM', () => {
  it('is new once, and then replaced; a request that changes nothing leaves updated_at', async () => {
    const domain = newDomain();
    expect(await register(domain, 'cvm-1', 'one')).toMatchObject({ isNew: true, cvm: { description: 'one', updated_at: now } });
    expect(await register(domain, 'cvm-1', 'one', at(1))).toMatchObject({ isNew: false, cvm: { updated_at: now } });
    const cvm = { description: 'two', created_at: now, updated_at: at(2) };
    expect(await register(domain, 'cvm-1', 'two', at(2))).toMatchObject({ isNew: false, cvm });
    expect(await readCvm(stores.table, { domain, cvmId: 'cvm-1' }, now)).toMatchObject(cvm);
  });

  it('has another ETag with another text of its certificate, although the fingerprint and the time stay', async () => {
    const domain = newDomain();
    const put = async (certificate: string) =>
      (await registerCvm(stores.table, { by: 'root', domain, cvmId: 'cvm-1', given: { ...cvmBody, certificate }, now })).cvm;
    const [one, other] = [await put(cvmBody.certificate), await put(cvmBody.certificate.replaceAll('\n', '\r\n'))];
    const { certificate_fingerprint, updated_at } = one;
    expect(other).toMatchObject({ certificate_fingerprint, updated_at, certificate: expect.stringContaining('\r\n') });
    const [ofOne = '', ofOther = ''] = [one, other].map((cvm) => cvmEtag(cvm).split('.')[0]);
    expect(ofOther).not.toBe(ofOne);
  });

  it('is neither changed nor removed by those who have read it before another change', async () => {
    const domain = newDomain();
    await register(domain, 'cvm-1', 'one');
    const { cvm } = await readCvmAndClaim(stores.table, { domain, cvmId: 'cvm-1' }, now);
    if (!cvm) throw new Error('It is not registered.');
    await register(domain, 'cvm-1', 'two', at(1));
    const commit = async (change: (transaction: Transaction) => unknown) => {
      const transaction = new Transaction();
      change(transaction);
      await transaction.commit(stores.table);
    };
    const change = { description: 'three', certificate_fingerprint: null, updated_at: at(2) };
    await expect(commit((transaction) => changeCvm(transaction, domain, cvm, change))).rejects.toBeInstanceOf(StaleReadError);
    await expect(commit((transaction) => removeCvm(transaction, domain, cvm))).rejects.toBeInstanceOf(StaleReadError);
    expect(await readCvm(stores.table, { domain, cvmId: 'cvm-1' }, now)).toMatchObject({ description: 'two' });
  });

  it('has no presence when it is registered again after its removal', async () => {
    const domain = newDomain();
    await register(domain, 'cvm-1');
    await beat(domain, 'cvm-1', { agent_state: 'Complete', fit: 'spent' });
    await deleteCvm(stores.table, { domain, cvmId: 'cvm-1', now });
    expect(await register(domain, 'cvm-1', '', at(1))).toMatchObject({
      isNew: true,
      cvm: { created_at: at(1), presence: { state: 'disconnected', last_seen_at: null, agent_state: null, fit: 'unknown' } },
    });
    await isConsistent();
  });
});

describe('presence', () => {
  it.each<[string, (domain: string, when: string) => Promise<unknown>]>([
    ['a poll', (domain, when) => poll(domain, 'cvm-1', when)],
    ['a heartbeat', (domain, when) => beat(domain, 'cvm-1', {}, when)],
    ['a report that is refused', (domain, when) => beat(domain, 'cvm-1', { run_id: 'unknown' }, when)],
  ])('is renewed by %s after 30 seconds, and not before', async (_what, hear) => {
    const domain = newDomain();
    await register(domain, 'cvm-1');
    await hear(domain, now);
    await hear(domain, at(29));
    expect((await presence(domain, 'cvm-1')).last_seen_at).toBe(now);
    await hear(domain, at(30));
    expect(await presence(domain, 'cvm-1', at(90))).toMatchObject({ state: 'connected', last_seen_at: at(30) });
    expect((await presence(domain, 'cvm-1', at(91))).state).toBe('disconnected');
  });

  it('has what the agent says at once', async () => {
    const domain = newDomain();
    await register(domain, 'cvm-1');
    await beat(domain, 'cvm-1', { agent_state: 'ReceivingManifest', fit: 'ready' });
    await beat(domain, 'cvm-1', { agent_state: 'Complete' }, at(1));
    expect(await presence(domain, 'cvm-1', at(1))).toEqual({
      state: 'connected',
      last_seen_at: at(1),
      agent_state: 'Complete',
      fit: 'ready',
    });
  });

  it('is not kept of a CVM that is not registered', async () => {
    const domain = newDomain();
    const items = await scan(stores.table);
    await poll(domain, 'cvm-1');
    await beat(domain, 'cvm-1', { agent_state: 'Running', fit: 'busy' });
    expect(await scan(stores.table)).toEqual(items);
  });

  it('does not bring back a CVM that is removed while it is heard', async () => {
    const domain = newDomain();
    await register(domain, 'cvm-1');
    asReadBefore(stores.mortal, cvmKeys.cvm(domain, 'cvm-1'), () => deleteCvm(stores.table, { domain, cvmId: 'cvm-1', now }));
    await listCommands(stores.mortal, domain, 'cvm-1', now);
    expect(await idsOf(domain)).toEqual([]);
    await isConsistent();
  });
});

describe('a run', () => {
  const readyRun = async (domain: string, cvmId: string) => {
    const { id } = await aReadyComputation(stores, domain);
    await register(domain, cvmId);
    return id;
  };
  const reference = (domain: string, computation_id: string, run_id: string) => ({
    domain,
    computation_id,
    run_id,
    cvm_id: 'cvm-1',
  });
  const notReady = { code: 'conflict', extras: { reason: 'cvm_not_ready' } };

  it('leaves the CVM spent until its agent says that it is ready, if it ever said so', async () => {
    const domain = newDomain();
    const id = await readyRun(domain, 'cvm-1');
    await beat(domain, 'cvm-1', { fit: 'ready' });
    const run = await aRun(stores, domain, id, 'cvm-1');
    expect((await presence(domain, 'cvm-1')).fit).toBe('busy');
    await endRunWith(stores, domain, run);
    expect((await presence(domain, 'cvm-1')).fit).toBe('spent');
    await expect(startOn(domain, 'cvm-1', id)).rejects.toMatchObject(notReady);
    await beat(domain, 'cvm-1', { fit: 'ready' }, at(1));
    await startOn(domain, 'cvm-1', id, at(1));
  });

  it('leaves the CVM ready if its agent was restarted right after it accepted the run', async () => {
    const domain = newDomain();
    const id = await readyRun(domain, 'cvm-1');
    await beat(domain, 'cvm-1', { fit: 'ready' });
    const run = await aRun(stores, domain, id, 'cvm-1');
    const claim = await readClaim(stores.table, reference(domain, id, run));
    await report(domain, 'cvm-1', [
      { id: 'a', run_id: run, type: 'accepted', command_id: claim?.run_command_id ?? '', reason: '' },
    ]);
    await beat(domain, 'cvm-1', { fit: 'ready' }, at(1));
    await endRunWith(stores, domain, run);
    expect((await presence(domain, 'cvm-1', at(2))).fit).toBe('ready');
    await startOn(domain, 'cvm-1', id, at(2));
  });

  it('leaves `fit` unchanged if its CVM never accepted it', async () => {
    const domain = newDomain();
    const id = await readyRun(domain, 'cvm-1');
    await beat(domain, 'cvm-1', { fit: 'ready' });
    const run = await aRun(stores, domain, id, 'cvm-1');
    const claim = await readClaim(stores.table, reference(domain, id, run));
    const rejection = { id: 'r', run_id: run, type: 'rejected' as const, command_id: claim?.run_command_id ?? '', reason: '' };
    await report(domain, 'cvm-1', [rejection]);
    await recordOutcome(stores.table, stores.executions, { run: reference(domain, id, run) }, now);
    expect((await presence(domain, 'cvm-1')).fit).toBe('ready');
  });

  it('never makes a CVM spent that does not report whether it is fit', async () => {
    const domain = newDomain();
    const id = await readyRun(domain, 'cvm-1');
    await poll(domain, 'cvm-1');
    for (let time = 1; time <= 2; time++) {
      const run = await aRun(stores, domain, id, 'cvm-1');
      await endRunWith(stores, domain, run);
      expect((await presence(domain, 'cvm-1')).fit).toBe('unknown');
    }
  });

  it('keeps what the agent says while the run ends', async () => {
    const domain = newDomain();
    const id = await readyRun(domain, 'cvm-1');
    await beat(domain, 'cvm-1', { fit: 'ready' });
    const run = await aRun(stores, domain, id, 'cvm-1');
    const event = {
      id: 'e',
      run_id: run,
      type: 'event' as const,
      event_type: 'Complete',
      status: 'Completed',
      originator: 'agent' as const,
    };
    await report(domain, 'cvm-1', [event]);
    beforeTheNextTransaction(stores.mortal, () => beat(domain, 'cvm-1', { fit: 'ready' }, at(40)));
    await recordOutcome(stores.mortal, stores.executions, { run: reference(domain, id, run) }, at(40));
    expect((await presence(domain, 'cvm-1')).fit).toBe('ready');
  });
});

describe('deleteCvm', () => {
  it('is refused while a run holds the CVM, also if that starts after it has read the claim', async () => {
    const domain = newDomain();
    const { id } = await aReadyComputation(stores, domain);
    await register(domain, 'cvm-1');
    await poll(domain, 'cvm-1');
    let run = '';
    beforeTheNextTransaction(stores.mortal, async () => {
      run = await aRun(stores, domain, id, 'cvm-1');
    });
    const refused = await deleteCvm(stores.mortal, { domain, cvmId: 'cvm-1', now }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'conflict', extras: { reason: 'cvm_busy', run_id: run } });
    await endRunWith(stores, domain, run);
    await deleteCvm(stores.table, { domain, cvmId: 'cvm-1', now });
    expect(await idsOf(domain)).toEqual([]);
  });
});

describe('registering, removing, hearing and starting at once', () => {
  it('leave every CVM either registered and listed, or neither, and every run with its claim', async () => {
    const domain = newDomain();
    const cvms = ['cvm-1', 'cvm-2', 'cvm-3'];
    const ready = await Promise.all(cvms.map(async () => (await aReadyComputation(stores, domain)).id));
    const settled: string[] = [];
    const attempts = Array.from({ length: 15 }, (_, round) =>
      cvms.map(async (cvm, index) => {
        const steps = [
          () => register(domain, cvm, `round ${round}`),
          () => beat(domain, cvm, { fit: 'ready' }),
          () => startOn(domain, cvm, ready[index] ?? ''),
          () => poll(domain, cvm),
          () => deleteCvm(stores.table, { domain, cvmId: cvm, now }),
        ];
        const step = steps[round % steps.length];
        try {
          await step?.();
          settled.push('done');
        } catch (error) {
          settled.push((error as { code: string }).code);
        }
      }),
    );
    await Promise.all(attempts.flat());
    expect(new Set(settled)).not.toContain(undefined);
    for (const outcome of settled) expect(['done', 'conflict', 'not_found']).toContain(outcome);
    await isConsistent();
    const listed = await listCvms(stores.table, domain, { limit: 100, offset: 0, now });
    expect(listed.total).toBe(listed.cvms.length);
  });

  it('make one CVM of 20 registrations of the same one', async () => {
    const domain = newDomain();
    const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => register(domain, 'cvm-1', String(index))));
    expect(answers.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect((await listCvms(stores.table, domain, { limit: 10, offset: 0, now })).total).toBe(1);
    await isConsistent();
  });
});
