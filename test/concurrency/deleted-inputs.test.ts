import { describe, expect, it } from 'vitest';
import { assetKey, findAsset } from '../../shared/rows/asset.ts';
import { Deadline, systemClock } from '../../shared/runtime/deadline.ts';
import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { purgeAll } from '../../shared/deletion/purge-all.ts';
import { readClaims } from '../../shared/rows/claim.ts';
import { listCommands } from '../../shared/cvms/list-commands.ts';
import { offerRun, recordOutcome } from '../../shared/lifecycle/run-steps.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import type { Key } from '../../shared/table/keys.ts';
import { type Table, getItem } from '../../shared/table/table.ts';
import { deleteItems } from '../../shared/table/writes.ts';
import { amount, sampleSeed } from '../support/amounts.ts';
import { seededRandom, shuffled } from '../support/seeded-random.ts';
import { addHalfLinks, aReadyComputation, byAlice, endRunWith, startStores } from '../support/builders-store.ts';
import { untilTestEnds } from '../support/patience.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { stepThrough } from '../support/stepped-calls.ts';
import { readRun } from '../../shared/rows/run.ts';

const stores = sharedByTests(startStores);

const cvmId = 'cvm-1';
/** The milliseconds for which a start waits for a deletion, which may have died. */
const longestWait = 300;
let worlds = 0;
const halfLinks: Key[] = [];

/** A computation that is ready to run, in a domain of its own, whose algorithm has many links. */
async function aWorld() {
  const domain = `d${++worlds}`;
  const { id, algorithm } = await aReadyComputation(stores, domain);
  halfLinks.push(...(await addHalfLinks(stores.table, algorithm)));
  const request = { domain, computationId: id, cvmId, ...byAlice };
  const offer = (table: Table, run_id: string) => {
    const run = { domain, computation_id: id, run_id, cvm_id: cvmId };
    return offerRun(table, stores.executions, { run, task_token: 'token' }, { now: byAlice.now, acceptInSeconds: 60 });
  };
  return {
    domain,
    algorithm,
    offer,
    isThere: async () => findAsset(await getItem(stores.table, assetKey(domain, algorithm)), algorithm) !== undefined,
    remove: (table: Table) => deleteAsset(table, { domain, id: algorithm, ...byAlice }),
    /** Starts a run and takes its first step. */
    run: async (given: Table) => {
      const deadline = new Deadline(untilTestEnds.timeout, systemClock, { retryTime: longestWait });
      const table = { ...given, deadline: () => deadline };
      const { runId } = await startRun(table, stores.executions, request);
      await offer(table, runId);
    },
  };
}
type World = Awaited<ReturnType<typeof aWorld>>;

const outcomes = ['no run', 'the run goes on', 'the run fails'] as const;
type Outcome = (typeof outcomes)[number];

/** Takes the first step of a run whose caller died. Checks that either the asset or the run is left, and that it stays so. */
async function outcomeOf({ domain, algorithm, isThere, offer, remove }: World): Promise<Outcome> {
  const [claim] = (await readClaims(stores.table)).filter((each) => each.domain === domain);
  if (!claim) return 'no run';
  if (claim.offer_token === undefined && !claim.outcome) await offer(stores.table, claim.run_id);
  const { commands } = await listCommands(stores.table, domain, cvmId, byAlice.now);
  if (await isThere()) {
    expect(commands.map(({ run_id }) => run_id)).toEqual([claim.run_id]);
    await expect(remove(stores.table)).rejects.toMatchObject({ extras: { reason: 'asset_in_use', run_id: claim.run_id } });
    expect(await isThere()).toBe(true);
    await endRunWith(stores, domain, claim.run_id);
    return 'the run goes on';
  }
  expect(commands).toEqual([]);
  await recordOutcome(stores.table, stores.executions, { run: claim }, byAlice.now);
  expect(await readRun(stores.table, domain, claim.run_id)).toMatchObject({
    status: 'failed',
    reason: `The asset ${algorithm} was deleted while the run started.`,
  });
  return 'the run fails';
}

async function callsOfRun(): Promise<number> {
  const { run } = await aWorld();
  const stepped = stepThrough(stores.table, run);
  await stepped.step(Infinity);
  return stepped.calls();
}

/** The purge that follows makes many more. */
async function callsUntilDeleted(): Promise<number> {
  const { remove, isThere } = await aWorld();
  const stepped = stepThrough(stores.table, remove);
  while (await isThere()) await stepped.step(1);
  const calls = stepped.calls();
  await stepped.finish();
  return calls;
}

interface Schedule {
  /**
   * The one of the two that makes its first `first` calls before the other one makes `second`. Then it makes the rest, if it lives.
   */
  begins: 'run' | 'deletion';
  first: number;
  second: number;
  /** Tells whether the one that began dies then, and if its next call still takes effect. */
  dies: 'no' | 'before a call' | 'after a call';
}

async function schedules(): Promise<Schedule[]> {
  const calls = { run: await callsOfRun(), deletion: await callsUntilDeleted() };
  const all = (['run', 'deletion'] as const).flatMap((begins) => {
    const [own, others] = [calls[begins], calls[begins === 'run' ? 'deletion' : 'run']];
    return Array.from({ length: own + 1 }, (_, first) => [
      ...Array.from({ length: others + 1 }, (_, second): Schedule => ({ begins, first, second, dies: 'no' })),
      ...(['before a call', 'after a call'] as const).map((dies) => ({ begins, first, second: others, dies })),
    ]).flat();
  });
  // The deletion is committed, and its purge has not reached the computation: the run may not have noticed.
  const isNarrow = ({ begins, second, dies }: Schedule) => begins === 'run' && second === calls.deletion && dies === 'no';
  const others = all.filter((schedule) => !isNarrow(schedule));
  const sample = shuffled(others, seededRandom(sampleSeed)).slice(0, amount({ sample: 3, full: Infinity }));
  return [...all.filter(isNarrow), ...sample];
}

async function carryOut({ begins, first, second, dies }: Schedule): Promise<Outcome> {
  const world = await aWorld();
  const [own, other] = begins === 'run' ? [world.run, world.remove] : [world.remove, world.run];
  const beginner = stepThrough<unknown>(stores.table, own);
  await beginner.step(first);
  if (dies !== 'no') await beginner.die(dies === 'after a call');
  const follower = stepThrough<unknown>(stores.table, other);
  await follower.step(second);
  const answers = dies === 'no' ? [await beginner.finish(), await follower.finish()] : [await follower.finish()];
  const refusals = answers.filter((answer) => answer instanceof Error);
  for (const refusal of refusals) expect(['conflict', 'incomplete', 'unavailable']).toContain(Reflect.get(refusal, 'code'));
  return await outcomeOf(world);
}

describe(`a run that starts while its algorithm, which has many links, is deleted (seed ${sampleSeed})`, () => {
  it('keeps the algorithm, or fails before it is offered to the CVM, in any order of their calls and if one of them dies', async () => {
    const seen = new Map<Outcome, Schedule>();
    for (const schedule of await schedules()) {
      const outcome = await carryOut(schedule).catch((error: unknown) => {
        throw new Error(`In this order: ${JSON.stringify(schedule)}`, { cause: error });
      });
      seen.set(outcome, schedule);
    }
    expect([...seen.keys()].sort()).toEqual([...outcomes].sort());
    await purgeAll(stores.table, stores.content);
    await deleteItems(stores.table, halfLinks);
    expect(inconsistencies(await scan(stores.table))).toEqual([]);
  }, 600_000);
});
