import { beforeAll, expect, it } from 'vitest';
import { buildTree } from '../../../tools/bench/lists/build-tree.ts';
import { headOfTrees, toSetIn } from '../../../shared/lists/build-trees.ts';
import { emptyHead, encodeHead, parseHead } from '../../../shared/lists/head.ts';
import { groupOfComputation, groupOfOwner, indexedLists, treeIdsOf, memberChange } from '../../../shared/lists/indexed-list.ts';
import type { State } from '../../../shared/lists/node.ts';
import { readPage } from '../../../shared/lists/read-page.ts';
import { recordChange } from '../../../shared/lists/fold-due.ts';
import { indexKeys, type Key } from '../../../shared/table/keys.ts';
import type { Item, Table } from '../../../shared/table/table.ts';
import { type Action, Transaction } from '../../../shared/table/transaction.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { amount } from '../../support/amounts.ts';
import { createUnitMeter, unitLimitsOfAws } from '../../support/aws-dynamodb/limits.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const changesPerSecond = 500;
/** From the seventh on, as much is deleted from the log as comes. */
const seconds = amount({ sample: 8, full: 20 });
const changesAtOnce = 25;
const ofEachKind = Math.ceil((changesPerSecond * seconds) / 3);
/** There are two writes of the head in a fold, so that one takes a second. */
const headTakesInMilliseconds = 500;
const pageEveryInMilliseconds = 1_000;

const day = 20_454;
let time = day * 24 * 60 * 60 * 1_000;
const clock = { now: () => time, wait: () => Promise.resolve(), setTimer: () => () => undefined };
const meter = createUnitMeter(clock, unitLimitsOfAws);

const computations = indexedLists.computations('d1');
const runs = indexedLists.runs('d1');
const { index } = computations;
const group = groupOfOwner('alice');
const firstActive = 10_000_001;
const firstIdle = firstActive + ofEachKind;
const firstNew = firstIdle + ofEachKind;
const runOf = (computation: number) => computation - 5_000_000;

const memberOf = (number: number, change: { before?: 'created' | 'running'; now: 'created' | 'running' | 'completed' }) =>
  memberChange(computations, number, { ...change, group });
const runMemberOf = (number: number, change: { before?: 'running'; now: 'running' | 'completed' }) =>
  memberChange(runs, runOf(number), { ...change, group: groupOfComputation(number) });

/** Creates, starts and ends of runs in turn, each of another computation. */
const kinds = [
  (nth: number) => {
    const resource = firstNew + nth;
    return { resource, version: 1, changes: [memberOf(resource, { now: 'created' })], entered: { day, state: 1 } };
  },
  (nth: number) => {
    const resource = firstIdle + nth;
    const changes = [memberOf(resource, { before: 'created', now: 'running' }), runMemberOf(resource, { now: 'running' })];
    return { resource, version: 2, changes, entered: { day, state: 2 } };
  },
  (nth: number) => {
    const resource = firstActive + nth;
    const end = { before: 'running', now: 'completed' } as const;
    return { resource, version: 3, changes: [memberOf(resource, end), runMemberOf(resource, end)], entered: { day, state: 4 } };
  },
] as const;

/** Fills the trees with the computations whose runs are started and ended. */
async function fillTrees(): Promise<void> {
  const computationsFrom = (first: number, state: State) =>
    Array.from({ length: ofEachKind }, (_, at) => ({ group, number: first + at, state }));
  const active = computationsFrom(firstActive, 2);
  const activeRuns = active.map(({ number, state }) => ({ group: groupOfComputation(number), number: runOf(number), state }));
  const edges: [string, Uint8Array[]][] = [];
  for (const [list, members] of [
    [computations, [...active, ...computationsFrom(firstIdle, 1)]],
    [runs, activeRuns],
  ] as const) {
    for (const treeId of treeIdsOf(list)) {
      edges.push([treeId, await buildTree(embedded.table, index, toSetIn(treeId, list, members))]);
    }
  }
  const { head, roots } = headOfTrees(index, emptyHead, edges, 'filled');
  await putItems(embedded.table, [...roots, { ...indexKeys.head(index), ...encodeHead(head) }]);
}

/** Changes that are written together, and the checks of the log that follow them. */
class Offered extends Transaction {
  readonly items: (Item & Key)[] = [];
  readonly checks: ((table: Table) => Promise<void>)[] = [];

  override add({ update }: Action): void {
    const [step, version] = [update?.ExpressionAttributeNames?.['#step'] ?? '', update?.ExpressionAttributeValues ?? {}];
    this.items.push({ ...(update?.Key as Key), version: version[':version'], [step]: version[':step'] });
  }

  override afterwards(check: (table: Table) => Promise<void>): void {
    this.checks.push(check);
  }
}

let table: Table;
let made = 0;
/** The number of changes in each fold, by its name. */
const folded = new Map<string, number>();
let deleted = 0;
let readUnits = 0;
const most = { unfolded: 0, inLog: 0, readUnits: 0 };

async function offer(): Promise<void> {
  const offered = new Offered();
  for (const end = made + changesAtOnce; made < end; made++) {
    const kind = kinds[made % kinds.length] ?? kinds[0];
    recordChange(offered, index, kind(Math.floor(made / kinds.length)));
  }
  await putItems(table, offered.items);
  // A change writes its entry in a transaction, which costs twice as much.
  for (const { pk } of offered.items) meter.reserve('write', pk, 2);
  for (const check of offered.checks) await check(table);
}

async function readFirstPage(): Promise<void> {
  const before = readUnits;
  const { total } = await readPage(table, computations, { limit: 10, offset: 0 });
  expect(total).toBe(2 * ofEachKind + Math.ceil(made / kinds.length));
  most.readUnits = Math.max(most.readUnits, readUnits - before);
}

/** Lets time pass, in which changes are made and pages are read. */
async function pass(milliseconds: number): Promise<void> {
  for (const end = time + milliseconds; time < end;) {
    time += (changesAtOnce * 1_000) / changesPerSecond;
    if (made < changesPerSecond * seconds) await offer();
    const unfolded = made - [...folded.values()].reduce((sum, count) => sum + count, 0);
    most.unfolded = Math.max(most.unfolded, unfolded);
    most.inLog = Math.max(most.inLog, made - deleted);
    if (time % pageEveryInMilliseconds === 0) await readFirstPage();
  }
}

interface Sent {
  Item?: Item & Key;
  Key?: Key;
}

beforeAll(async () => {
  await fillTrees();
  table = { ...embedded.table, clock };
  table.document.middlewareStack.add(
    (next, { commandName }) =>
      async (sent) => {
        const { Item: item, Key: key } = sent.input as Sent;
        const isHead = item?.sk === 'head';
        if (isHead) await pass(headTakesInMilliseconds);
        const answer = await next({ ...sent, input: { ...sent.input, ReturnConsumedCapacity: 'TOTAL' } });
        const { ConsumedCapacity: consumed } = answer.output as { ConsumedCapacity?: { CapacityUnits?: number } };
        if (/^(Get|Query)/.test(String(commandName))) readUnits += consumed?.CapacityUnits ?? 0;
        if (isHead) for (const { name, entries } of parseHead(item).folds) folded.set(name, entries.size);
        if (String(commandName).startsWith('Delete') && key) {
          deleted += 1;
          meter.reserve('write', key.pk, 1);
        }
        return answer;
      },
    { step: 'initialize' },
  );
});

it(`a list of ${changesPerSecond} changes a second is folded as quickly as it changes, and its first page costs at most 80 read units`, async () => {
  while (made < changesPerSecond * seconds) await pass(pageEveryInMilliseconds);
  expect(deleted).toBeGreaterThan(500);
  expect(most.unfolded).toBeLessThan(1_500);
  // Two are left for the rows, of which there are none here.
  expect(most.readUnits).toBeLessThanOrEqual(78);
  expect(meter.throttled()).toBe(0);
});
