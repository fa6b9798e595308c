import { isDeepStrictEqual } from 'node:util';
import { computationStatuses } from 'computation-management-formats/vocabulary';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../shared/runtime/errors.ts';
import { sweepRuns } from '../../shared/lifecycle/sweep-runs.ts';
import { purgeAll } from '../../shared/deletion/purge-all.ts';
import { isActive } from '../../shared/rows/run.ts';
import type { Key } from '../../shared/table/keys.ts';
import { openList, rowLists } from '../../shared/table/row-lists.ts';
import { deleteItems } from '../../shared/table/writes.ts';
import { amount } from '../support/amounts.ts';
import { emptyModel, enters, happens, type Model, modelOf, plan, type Planned, type Step, stepNames } from './store-model.ts';
import { endRunWith, startStores, type Stores } from '../support/builders-store.ts';
import { inconsistencies, scan } from '../support/inconsistencies.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { listComputations } from '../../shared/computations/describe-computation.ts';
import { readComputation } from '../../shared/rows/computation.ts';

const stores = sharedByTests(() => startStores({ bySdk: true }));

const domain = 'd1';
const clone = (model: Model) => structuredClone(model);

/** The weight of each step, so that histories reach runs before everything is deleted. */
const weights: Record<Step['does'], number> = {
  create: 1,
  update: 1,
  remove: 1,
  createAsset: 1,
  rename: 2,
  removeAsset: 1,
  link: 4,
  unlink: 2,
  uploadKey: 3,
  start: 6,
  stop: 2,
};
const aStep: fc.Arbitrary<Step> = fc.record({
  does: fc.oneof(...stepNames.map((does) => ({ weight: weights[does], arbitrary: fc.constant(does) }))),
  computation: fc.nat(3),
  asset: fc.nat(3),
  name: fc.constantFrom('a', 'b'),
  type: fc.constantFrom('algorithm', 'dataset'),
});
/** The place at which the step's caller dies: before one of its calls to the table takes effect, or before the answer arrives. */
const deathFields = { after: fc.nat(5), kind: fc.constantFrom('dropped', 'lost-answer') };
const aDeath = fc.record(deathFields);
const anEnding = fc.record({
  ends: fc.constantFrom<[string, string][]>(['Complete', 'Completed'], ['Failed', 'Failed']),
  computation: fc.nat(3),
});
/** Folds the lists' changes. The folder may die, as the caller of a step. `pause` in milliseconds. */
const aFold = fc.record({ fold: fc.record({ ...deathFields, after: fc.nat(16) }), pause: fc.constantFrom(0, 5_000) });
const something = fc.oneof(
  { weight: 2, arbitrary: aFold },
  { weight: 6, arbitrary: fc.record({ step: aStep }) },
  { weight: 2, arbitrary: fc.record({ step: aStep, death: aDeath }) },
  { weight: 2, arbitrary: anEnding },
);

/** The first steps of a history: two computations that are ready to run with the same algorithm, one of them with a dataset. */
const beginning: Step[] = [
  { does: 'create', computation: 0, asset: 0, name: 'a', type: 'algorithm' },
  { does: 'create', computation: 0, asset: 0, name: 'b', type: 'algorithm' },
  { does: 'createAsset', computation: 0, asset: 0, name: 'a', type: 'algorithm' },
  { does: 'createAsset', computation: 0, asset: 0, name: 'b', type: 'dataset' },
  { does: 'link', computation: 0, asset: 0, name: 'a', type: 'algorithm' },
  { does: 'link', computation: 1, asset: 0, name: 'a', type: 'algorithm' },
  { does: 'link', computation: 1, asset: 1, name: 'a', type: 'dataset' },
  { does: 'uploadKey', computation: 0, asset: 0, name: 'a', type: 'algorithm' },
  { does: 'uploadKey', computation: 1, asset: 0, name: 'a', type: 'algorithm' },
];

/** Applies a plan to the model that it was made from. A plan changes that model, so it may have been made from a copy. */
function after(model: Model, step: Step, created: string): Model {
  const next = clone(model);
  plan(next, domain, step)?.apply(next, created);
  return next;
}

async function doStep(model: Model, step: Step): Promise<Model> {
  const planned = plan(model, domain, step);
  if (!planned) return model;
  const outcome = await outcomeOf(planned, stores.table);
  expect([step.does, outcome.refused]).toEqual([step.does, planned.refused]);
  return planned.refused ? model : after(model, step, String(outcome.answer));
}

interface Outcome {
  answer?: unknown;
  refused?: string;
  died?: unknown;
}

async function outcomeOf(planned: Planned, table: Stores['table']): Promise<Outcome> {
  try {
    return { answer: await planned.act(stores, table) };
  } catch (error) {
    return error instanceof ServiceError ? { refused: error.code } : { died: error };
  }
}

/** Does a step whose caller may die, repairs what it left, and finds out whether the step took effect. */
async function doMortalStep(model: Model, step: Step, fault: { after: number; kind: 'dropped' | 'lost-answer' }): Promise<Model> {
  const planned = plan(model, domain, step);
  if (!planned) return model;
  stores.proxy.inject({ ...fault, share: 1 });
  const outcome = await outcomeOf(planned, stores.mortal);
  stores.proxy.inject(undefined);
  await purgeAll(stores.table, stores.content);
  await sweepRuns(stores.table, stores.executions, new Date().toISOString(), { graceInSeconds: 0 });

  const found = modelOf(await scan(stores.table), domain);
  const created = [...Object.keys(found.computations), ...Object.keys(found.assets)].find(
    (id) => !(id in model.computations) && !(id in model.assets),
  );
  const possible = planned.refused ? [model] : [model, after(model, step, String(created))];
  if (step.does === 'start' && !planned.refused) possible.push(neverHandedOver(possible[1] ?? model, model));
  const match = possible.findLast((each) => isDeepStrictEqual(each, found));
  if (!match) expect(found).toEqual(possible.at(-1));
  if (!outcome.died && !outcome.refused && !planned.refused) expect(found).toEqual(possible[1]);
  return match ?? model;
}

/** Returns the run that was written but never started, and that the sweep has failed. */
function neverHandedOver(started: Model, before: Model): Model {
  const swept = clone(started);
  const id = Object.keys(swept.computations).find(
    (each) => swept.computations[each]?.status !== before.computations[each]?.status,
  );
  const computation = swept.computations[id ?? ''];
  if (computation) enters(swept, computation, 'failed', 'failed');
  return swept;
}

async function endOne(model: Model, place: number, ends: [string, string]): Promise<Model> {
  const active = Object.entries(model.computations).filter(([, { status }]) => isActive(status));
  const [id] = active[place % active.length] ?? [];
  if (id === undefined) return model;
  const { run } = await readComputation(stores.table, domain, id);
  await endRunWith(stores, domain, run?.id ?? '', ends);
  const next = clone(model);
  const computation = next.computations[id];
  if (computation) {
    const status = ends[0] === 'Complete' ? 'completed' : 'failed';
    happens(computation, ends[0]);
    enters(next, computation, status, status);
  }
  return next;
}

/** The same with other steps at the same time: the run may have ended or been deleted. */
async function endAtOnce(model: Model, place: number, ends: [string, string]): Promise<Outcome | undefined> {
  const active = Object.entries(model.computations).filter(([, { status }]) => isActive(status));
  const [id] = active[place % active.length] ?? [];
  if (id === undefined) return undefined;
  return await outcomeOf(
    {
      act: async () => {
        const { run } = await readComputation(stores.table, domain, id);
        await endRunWith(stores, domain, run?.id ?? '', ends);
      },
      apply: () => undefined,
    },
    stores.table,
  );
}

/** The time of folds. It moves in steps, so that a later fold deletes what an earlier one has replaced. */
let time = Date.now();

async function fold(death: { after: number; kind: 'dropped' | 'lost-answer' }, pause: number): Promise<void> {
  const table = { ...stores.mortal, clock: { now: () => time, wait: () => Promise.resolve() } };
  stores.proxy.inject({ ...death, share: 1 });
  for (const list of [rowLists.computations(domain), rowLists.runs(domain), rowLists.assets(domain)]) {
    await openList(table, list)
      .fold({ least: 1 })
      .catch(() => undefined);
  }
  stores.proxy.inject(undefined);
  time += pause;
}

async function wipe(): Promise<void> {
  await deleteItems(stores.table, (await scan(stores.table)) as unknown as Key[]);
}

describe('the store', () => {
  it('equals a plain model after random changes and folds whose callers may die in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(something, { minLength: 20, maxLength: 60, size: 'max' }), async (history) => {
        await wipe();
        let model = emptyModel();
        for (const step of beginning) model = await doStep(model, step);
        for (const each of history) {
          if ('ends' in each) model = await endOne(model, each.computation, each.ends);
          else if ('fold' in each) await fold(each.fold, each.pause);
          else if ('death' in each) model = await doMortalStep(model, each.step, each.death);
          else model = await doStep(model, each.step);
        }
        await purgeAll(stores.table, stores.content);
        const items = await scan(stores.table);
        expect(modelOf(items, domain)).toEqual(model);
        expect(inconsistencies(items)).toEqual([]);
        for (const status of [undefined, ...computationStatuses]) {
          const { total } = await listComputations(stores.table, domain, { limit: 1, offset: 0, status });
          const meant = Object.values(model.computations).filter((it) => status === undefined || it.status === status).length;
          expect([status, total]).toEqual([status, meant]);
        }
      }),
      { numRuns: amount({ sample: 3, full: 15 }) },
    );
  });

  it('is without contradictions after random changes at the same time', async () => {
    const step = fc.record({ step: aStep });
    const atOnce = fc.array(fc.oneof({ weight: 6, arbitrary: step }, { weight: 2, arbitrary: anEnding }), {
      minLength: 8,
      maxLength: 16,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(atOnce, { minLength: 3, maxLength: 5, size: 'max' }), async (rounds) => {
        await wipe();
        let model = emptyModel();
        for (const each of beginning) model = await doStep(model, each);
        for (const round of rounds) {
          stores.proxy.inject({ kind: 'conflict', share: 1 / 5 });
          const outcomes = await Promise.all(
            round.map(async (each) => {
              if ('ends' in each) return await endAtOnce(model, each.computation, each.ends);
              const planned = plan(model, domain, each.step);
              return planned && (await outcomeOf(planned, stores.mortal));
            }),
          );
          stores.proxy.inject(undefined);
          expect(outcomes.filter((outcome) => outcome?.died)).toEqual([]);
          await purgeAll(stores.table, stores.content);
          const items = await scan(stores.table);
          expect(inconsistencies(items)).toEqual([]);
          model = modelOf(items, domain);
        }
      }),
      { numRuns: amount({ sample: 2, full: 10 }) },
    );
  });
});
