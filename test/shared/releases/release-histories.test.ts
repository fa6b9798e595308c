import { randomUUID } from 'node:crypto';
import { detailsIn } from 'computation-management-formats/bytes';
import { beforeAll, describe, expect, it } from 'vitest';
import { withdrawApproval, refuse } from '../../../shared/approvals/approve.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { readEvents } from '../../../shared/events/read-events.ts';
import { recordOutcome } from '../../../shared/lifecycle/run-steps.ts';
import { checkRelease, type KeyRequest, refuseKey, releaseKey } from '../../../shared/releases/release-key.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { mostReleases, mostRefusals } from '../../../shared/rows/asset-key.ts';
import { fieldsOf } from '../../../shared/rows/computation.ts';
import { ServiceError } from '../../../shared/runtime/errors.ts';
import { stopRun } from '../../../shared/runs/stop-run.ts';
import { assetKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { attempt, disturbClient, type FaultAt, faultKinds } from '../../faults/faulty-calls.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { allowed, byAlice, endRunWith, keyAsset, noKey, startStores } from '../../support/builders-store.ts';
import { seededRandom, shuffled } from '../../support/seeded-random.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { KeyedComputation } from './keyed-runs.ts';

const stores = sharedByTests(startStores);
const domain = 'd1';

async function journalOf(id: string) {
  const { events } = await readEvents(stores.table, id, {}, { limit: 1_000, offset: 0 });
  return events.toReversed().map((event) => ({ ...event, details: detailsIn(event.details) }));
}

const withdraw = (id: string, now: string) => withdrawApproval(stores.table, { domain, computationId: id, by: 'bob', now });

/** Returns the time of a step of a history. */
const timeOfStep = (step: number) => new Date(Date.parse(byAlice.now) + step * 3_600_000).toISOString();
const expiryAfter = (step: number) => new Date(Date.parse(timeOfStep(step)) + 1_800_000).toISOString();

/** The conditions of a release in a run, as its test knows them. */
interface KnownRun {
  id: string;
  name: string;
  isAccepted: boolean;
  isActive: boolean;
  isRevoked: boolean;
  isOfProcess: boolean;
  isConnected: boolean;
  /** The expiries of the approval of its start and of one that has replaced it. */
  expiries: (string | undefined)[];
  releases: number;
}

class History {
  readonly of: KeyedComputation;
  run: KnownRun | undefined;
  /** The limits of the approval that bob gave last. */
  approved: { expires_at?: string } = {};
  name = 'Iris';
  step = 0;
  keys = 0;
  refusal = '';

  constructor(of: KeyedComputation) {
    this.of = of;
  }

  get now(): string {
    return timeOfStep(this.step);
  }

  get isAllowed(): boolean {
    const { run } = this;
    if (!run) return false;
    const isExpired = run.expiries.some((expiry) => expiry !== undefined && expiry <= this.now);
    const holds = run.isAccepted && run.isActive && run.isOfProcess && run.isConnected && !run.isRevoked && !isExpired;
    return holds && run.releases < mostReleases;
  }

  async approve(given: { cvm_ids?: string[]; expires_at?: string; max_runs?: number } = {}): Promise<void> {
    const counter = given.max_runs === undefined ? {} : { approval_id: randomUUID() };
    await this.of.approve({ ...given, ...counter }, this.now);
    this.approved = given;
    const { run } = this;
    if (!run?.isActive) return;
    if (this.name !== run.name || given.cvm_ids) run.isRevoked = true;
    else if (!((run.expiries[1] ?? this.now) < this.now)) run.expiries = [run.expiries[0], given.expires_at];
  }

  /** Asks for the key as a CVM does whose key the service holds. Returns whether it is released. */
  async ask(): Promise<boolean> {
    if (!this.run) return false;
    return await this.isReleased(
      releaseKey(
        stores.table,
        this.of.request(this.run.id),
        () => Promise.resolve(true),
        () => this.now,
      ),
    );
  }

  /** Asks for the key as a CVM does whose key a party holds. Does something while its broker thinks. */
  async askBroker(meanwhile: () => Promise<unknown>): Promise<boolean> {
    const { run } = this;
    if (!run) return false;
    const request = this.of.request(run.id);
    const relayed = async () => {
      await checkRelease(stores.table, request, () => this.now);
      await meanwhile();
      return await releaseKey(
        stores.table,
        request,
        () => Promise.resolve(true),
        () => this.now,
      );
    };
    return await this.isReleased(relayed());
  }

  private async isReleased(answer: Promise<boolean>): Promise<boolean> {
    const isReleased = await answer.catch((error: unknown) => {
      if (!(error instanceof ServiceError && ['forbidden', 'unauthenticated'].includes(error.code))) throw error;
      this.refusal = error.message;
      return false;
    });
    if (isReleased) this.keys++;
    return isReleased;
  }
}

const acts: Record<string, (history: History) => Promise<unknown>> = {
  approve: (history) => history.approve(),
  'approve two runs': (history) => history.approve({ max_runs: 2 }),
  'approve until soon': (history) => history.approve({ expires_at: expiryAfter(history.step) }),
  'approve until later': (history) => history.approve({ expires_at: expiryAfter(history.step + 2) }),
  'approve another CVM': (history) => history.approve({ cvm_ids: ['elsewhere'] }),
  'time passes': async (history) => Promise.resolve(history.step++),
  withdraw: async (history) => {
    await withdraw(history.of.id, history.now);
    if (history.run?.isActive) history.run.isRevoked = true;
  },
  refuse: async ({ of, now, run }) => {
    const given = { decision: 'refuse', reason: randomUUID() } as const;
    await refuse(stores.table, { domain, computationId: of.id, given, by: 'bob', now, permit: allowed });
    if (run?.isActive) run.isRevoked = true;
  },
  edit: async (history) => {
    const name = history.name === 'Iris' ? 'Setosa' : 'Iris';
    await updateComputation(stores.table, {
      domain,
      id: history.of.id,
      by: 'alice',
      now: history.now,
      seal: noKey,
      decide: (row, { attestation_policy, result_review, consumers, providers }) => ({
        fields: { ...fieldsOf(row, row), name },
        agent_config: defaultAgentConfig,
        attestation_policy,
        result_review,
        consumers,
        providers,
        permitted: allowed(),
      }),
    });
    history.name = name;
  },
  'give another key': ({ of }) =>
    keyAsset(stores.table, domain, of.dataset, { fingerprint: randomUUID().replaceAll('-', '').repeat(2) }),
  start: async (history) => {
    const id = await history.of.start(history.now);
    const { expires_at } = history.approved;
    const conditions = { isAccepted: false, isActive: true, isRevoked: false, isOfProcess: true, isConnected: true };
    history.run = { id, name: history.name, ...conditions, expiries: [expires_at, undefined], releases: 0 };
  },
  accept: async ({ of, run, now }) => {
    if (!run?.isActive) return;
    await of.accept(run.id, now);
    run.isAccepted = true;
  },
  'restart the agent': async ({ of, run }) => {
    await of.replaceAgent();
    if (run) run.isOfProcess = false;
  },
  reconnect: async ({ of, run }) => {
    await of.connect();
    if (run) run.isConnected = false;
  },
  stop: async ({ of, run, now }) => {
    if (!run?.isActive) return;
    await stopRun(stores.table, stores.executions, { domain, computationId: of.id, by: 'alice', now, permit: allowed });
    await recordOutcome(stores.table, stores.executions, { run: of.request(run.id).run.run }, now);
    run.isActive = false;
  },
  end: async ({ run }) => {
    if (!run?.isActive) return;
    await endRunWith(stores, domain, run.id);
    run.isActive = false;
  },
};

/** Does an act, which may be refused as those of users are. */
const tryTo = async (history: History, name: string) =>
  await acts[name]?.(history).catch((error: unknown) => {
    if (!(error instanceof ServiceError && ['incomplete', 'conflict'].includes(error.code))) throw error;
  });

const takesBack = ['approval_withdrawn', 'approval_refused'];

/** Says which releases the journal has that no condition allows, whatever happened at once. */
async function wrongReleases(id: string): Promise<string[]> {
  const journal = await journalOf(id);
  const counts = new Map<string, number>();
  return journal.flatMap(({ event_type, run_id }, at) => {
    if (event_type !== 'key_released') return [];
    const start = journal.findIndex((event) => event.event_type === 'started' && event.run_id === run_id);
    const since = journal.slice(start, at);
    const isOver = since.some(
      (event) => event.run_id === run_id && /^(?:stopping|completed|failed|cancelled)$/.test(event.event_type),
    );
    const isTakenBack = since.some((event) => event.originator === 'bob' && takesBack.includes(event.event_type));
    counts.set(run_id, (counts.get(run_id) ?? 0) + 1);
    const isTooMany = (counts.get(run_id) ?? 0) > mostReleases;
    return start < 0 || isOver || isTakenBack || isTooMany ? [`${event_type} at ${at}`] : [];
  });
}

describe('whatever is done in a run, generated', () => {
  const [histories, steps] = [amount({ sample: 2, full: 10_000 }), 10];
  const names = Object.keys(acts);
  const approvals = names.filter((name) => /^approve(?! another)/.test(name));

  it.each(Array.from({ length: histories }, (_, index) => sampleSeed * 100_000 + index))(
    'its key leaves while every condition holds, and only then (seed %i)',
    async (seed) => {
      const random = seededRandom(seed);
      const one = (of: readonly string[]) => of[Math.floor(random() * of.length)] ?? '';
      const history = new History(await KeyedComputation.make(stores));
      const done: string[] = [];
      await history.approve();
      for (let step = 0; step < steps; step++) {
        // A condition that fails hides the others until the next run: so that one comes soon.
        const next = history.isAllowed
          ? [one([...names, 'time passes', 'time passes', 'time passes'])]
          : [one(['end', one(names)])];
        for (const name of history.run?.isActive ? next : [one(approvals), 'start', 'accept']) {
          done.push(name);
          await tryTo(history, name);
        }
        const { run, isAllowed } = history;
        const way = one(['ask', 'ask twice at once', 'ask a broker', 'ask at once with', 'ask a broker before']);
        const other = one(names);
        done.push(way.startsWith('ask at') || way.endsWith('before') ? `${way} ${other}` : way);
        if (way === 'ask at once with') await Promise.all([history.ask(), tryTo(history, other)]);
        else if (way === 'ask a broker before') await history.askBroker(() => tryTo(history, other));
        else {
          const asks = way === 'ask twice at once' ? [() => history.ask(), () => history.ask()] : [() => history.ask()];
          const answers =
            way === 'ask a broker'
              ? [await history.askBroker(async () => undefined)]
              : await Promise.all(asks.map((ask) => ask()));
          const expected = isAllowed && run ? Math.min(asks.length, mostReleases - run.releases) : 0;
          expect({ done, released: answers.filter(Boolean).length }, history.refusal).toEqual({ done, released: expected });
        }
        const released = (await journalOf(history.of.id)).filter(({ event_type }) => event_type === 'key_released');
        if (history.run) history.run.releases = released.filter(({ run_id }) => run_id === history.run?.id).length;
        expect({ done, keys: history.keys }).toEqual({ done, keys: released.length });
      }
      expect({ done, wrong: await wrongReleases(history.of.id) }).toEqual({ done, wrong: [] });
      if (history.run?.isActive) await endRunWith(stores, domain, history.run.id);
    },
  );
});

describe('a fault at a call of a release', () => {
  beforeAll(() => disturbClient(stores.table.document));

  const acceptedRun = async () => {
    const of = await KeyedComputation.make(stores);
    await of.approve();
    const run = await of.start();
    await of.accept(run);
    return { of, request: of.request(run) };
  };
  const now = () => byAlice.now;
  const asks = {
    releases: (request: KeyRequest) => releaseKey(stores.table, request, () => Promise.resolve('key'), now),
    'is refused': (request: KeyRequest) => refuseKey(stores.table, request, 'The broker of bob refuses.', now),
  };
  type Way = keyof typeof asks;
  const count = async (id: string, type: string) => (await journalOf(id)).filter(({ event_type }) => event_type === type).length;
  const callsOf = async (way: Way) => {
    const { request } = await acceptedRun();
    return (await attempt(() => asks[way](request))).calls;
  };
  const some = <T>(of: T[]) => amount({ sample: shuffled(of, seededRandom(sampleSeed)).slice(0, 2), full: of });
  const faultsOf = async (way: Way) =>
    some((await callsOf(way)).flatMap((_, call) => faultKinds.map((kind) => ({ call, kind }))));

  it('lets no key leave without its event, and no more keys than the limit', async () => {
    for (const fault of await faultsOf('releases')) {
      const { of, request } = await acceptedRun();
      let keys = 0;
      const ask = async (fault?: FaultAt) => {
        const { result } = await attempt(() => asks.releases(request), fault);
        if (result === 'key') keys++;
        return result;
      };
      await ask(fault);
      for (let asked = 0; asked < mostReleases; asked++) await ask();
      const released = await count(of.id, 'key_released');
      const isLost = keys < released;
      const totals = await getItem(stores.table, assetKeys.key(of.dataset));
      expect({ fault, released, isLost: isLost && fault.kind === 'fails', totals: totals?.['releases'] }).toEqual({
        fault,
        released: mostReleases,
        isLost: false,
        totals: mostReleases,
      });
      expect([keys, await ask()]).toEqual([expect.toSatisfy((each: number) => each >= mostReleases - 1), undefined]);
    }
  });

  it('refuses still, and keeps at most the limit of refusals', async () => {
    for (const fault of await faultsOf('is refused')) {
      const { of, request } = await acceptedRun();
      expect((await attempt(() => asks['is refused'](request), fault)).result).toBeUndefined();
      await expect(asks['is refused'](request)).rejects.toMatchObject({ code: 'forbidden' });
      expect([fault, await count(of.id, 'key_refused')]).toEqual([
        fault,
        expect.toSatisfy((each: number) => each === 1 || each === 2),
      ]);
    }
    const { of, request } = await acceptedRun();
    for (let asked = 0; asked < mostRefusals + 2; asked++)
      await expect(asks['is refused'](request)).rejects.toMatchObject({ code: 'forbidden' });
    expect([await count(of.id, 'key_refused'), await count(of.id, 'key_released')]).toEqual([mostRefusals, 0]);
  });
});
