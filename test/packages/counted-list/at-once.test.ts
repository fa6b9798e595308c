import { setTimeout as delay } from 'node:timers/promises';
import { keysOf } from 'computation-management-counted-list/keys';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Table } from '../../../shared/table/table.ts';
import { amount, oneIn, oneOf } from '../../support/amounts.ts';
import { startAwsTable, type AwsTable } from '../../support/aws-dynamodb/aws-dynamodb.ts';
import { type EmbeddedTable, patientDeadline, startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { dyingTable, PlainList, settle, slowTable, values } from './plain-list.ts';

beforeEach(oneIn(2));

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;

/** Moves in steps, also while reads and folds are under way. */
let time = Date.parse('2026-01-01T00:00:00Z');
const pass = (milliseconds: number) => void (time += milliseconds);
const clock = { now: () => time, wait: (milliseconds: number) => delay(milliseconds) };
/** A rebuild waits for seconds. */
const passing = { ...clock, wait: async (milliseconds: number) => pass(milliseconds) };
let aws: AwsTable;
let embedded: EmbeddedTable;
let table: Table;
beforeAll(async () => {
  [aws, embedded] = await Promise.all([
    startAwsTable({ transactionInMilliseconds: 8, betweenReadsInMilliseconds: 2, seed }),
    startEmbeddedTable({ bySdk: true }),
  ]);
  table = { ...embedded.table, clock: passing };
});
afterAll(() => Promise.all([aws.stop(), embedded.stop()]));

const ignore = (...names: string[]) => {
  return (error: unknown) => {
    if (!(error instanceof Error && (names.includes(error.name) || names.includes(error.message)))) throw error;
  };
};

/** The states of one member over time. `begun` and `done` count the changes that were sent and acknowledged. */
interface History {
  number: number;
  states: (string | undefined)[];
  begun: number;
  done: number;
}

describe('a list that is read while changes and folds are under way', () => {
  it(`contains every acknowledged change, no change that has not begun, and each member once (TEST_SEED=${seed})`, async () => {
    const torn: Table = { ...aws.table, deadline: patientDeadline, clock };
    const list = new PlainList(torn, 'at-once');
    const members: History[] = Array.from({ length: 48 }, (_, index) => {
      return { number: index + 1, states: [undefined], begun: 0, done: 0 };
    });
    let isOver = false;
    let reads = 0;
    const write = async (mine: History[]) => {
      for (let count = 0; count < amount({ sample: 16, full: 60 }) || reads <= 20; count++) {
        const member = pick(mine);
        const now = pick([undefined, ...values].filter((state) => state !== member.states.at(-1)));
        member.states.push(now);
        member.begun += 1;
        await list.set([[member.number, now]]);
        member.done += 1;
      }
    };
    // Each fold is that of another process: it remembers nothing of earlier ones.
    const fold = async (isNew: () => boolean) => {
      while (!isOver) {
        const dies = random() < 0.3;
        const process = dies ? dyingTable(torn, 1 + Math.floor(random() * 12), random) : isNew() ? slowTable(torn, random) : torn;
        await list
          .open(process)
          .fold({ least: 1 })
          .catch(dies ? ignore('died') : undefined);
        time += Math.floor(random() * 1_500);
      }
    };
    const read = async () => {
      while (!isOver) {
        const done = members.map((member) => member.done);
        const open = list.open(slowTable(torn, random));
        const whole = { offset: 0, limit: 1_000 };
        // A read that is slower than the clock of the test finds its nodes deleted at each attempt.
        const page = await open.page({ ...whole, offset: pick([0, 0, 51]) }).catch(ignore('GoneError'));
        if (!page) continue;
        expect(new Set(page.numbers).size).toBe(page.numbers.length);
        const state = pick(values);
        const ofState = await open.page({ ...whole, state }).catch(ignore('GoneError'));
        reads += 1;
        if (!ofState) continue;
        expect(ofState.total).toBe(ofState.numbers.length);
        for (const [index, member] of members.entries()) {
          // The acknowledged state when the read began, or one of those that were begun since.
          const possible = member.states.slice(done[index], member.begun + 1);
          const mayBe = possible.includes(state) ? [true] : [];
          if (possible.some((each) => each !== state)) mayBe.push(false);
          expect(mayBe, `member ${member.number}`).toContain(ofState.numbers.includes(member.number));
        }
      }
    };
    const writers = Array.from({ length: 6 }, (_, index) => write(members.filter(({ number }) => number % 6 === index)));
    const readers = Array.from({ length: 12 }, read);
    const folders = [fold(() => false), fold(() => random() < 0.5)];
    await Promise.all([Promise.all(writers).finally(() => (isOver = true)), ...folders, ...readers]);
    await settle(list.open(), pass);
    expect(await list.differences()).toEqual([]);
    expect(await list.open().page({ offset: 0, limit: 100 })).toEqual(list.page({ offset: 0, limit: 100 }));
  });
});

describe('folds that die at any call, and several at once', () => {
  it.each([1, 3])(`leave each member once and no node that the tree lacks, %d at once (TEST_SEED=${seed})`, async (folders) => {
    const list = new PlainList(table, `dying-${folders}`);
    const count = amount({ sample: 500, full: 6_000 });
    const numbers = Array.from({ length: count }, (_, index) => (index + 1) * 70); // far apart: many leaves
    await list.fill(numbers, 'a');
    for (let round = 0; round < amount({ sample: 5, full: 100 }); round++) {
      await list.set(Array.from({ length: 30 }, () => [(1 + Math.floor(random() * count)) * 70, pick([undefined, ...values])]));
      const foldOrDie = async () => {
        const dies = random() < 0.6;
        const process = dies ? dyingTable(table, 1 + Math.floor(random() ** 2 * 60), random) : table;
        await list
          .open(process)
          .fold({ least: 1 })
          .catch(dies ? ignore('died') : undefined);
      };
      await Promise.all(Array.from({ length: folders }, foldOrDie));
      time += Math.floor(random() * 4_000);
      const request = { limit: 100, offset: Math.floor(random() * count), state: pick([undefined, ...values]) };
      expect(await list.open().page(request)).toEqual(list.page(request));
    }
    await settle(list.open(), pass);
    expect(await list.differences()).toEqual([]);
    const { log, index, nodes } = await list.stored();
    expect(log).toEqual([]);
    // A rebuild deletes what the tree does not contain: nothing, but for a fold that wrote after it was found dead.
    await list.open().rebuild(list.rows);
    const rebuilt = await list.stored();
    expect(index.filter((sk) => !sk.includes('plan#'))).toHaveLength(rebuilt.index.length);
    expect(nodes.length).toBeLessThan(4 * rebuilt.nodes.length + 1);
    expect(await list.differences()).toEqual([]);
  });
});

describe('a page with folds between two of its calls', () => {
  it.each(oneOf([300, 900, 1_900, 4_100]))('contains everything, once, if the folds come every %d ms', async (pause) => {
    const list = new PlainList(table, `between-${pause}`);
    const numbers = Array.from({ length: 300 }, (_, index) => (index + 1) * 100);
    for (let start = 0; start < 300; start += 50) await list.set(numbers.slice(start, start + 50).map((number) => [number, 'a']));
    await list.open().fold({ least: 1 });
    let rounds = 0;
    for (let held = 1, calls = held; held <= calls; held++) {
      rounds += 1;
      await list.set(numbers.filter((_, at) => at % 10 === 0).map((number) => [number, values[rounds % 2]]));
      let call = 0;
      const folding = tableThrough(table, async (send) => {
        call += 1;
        if (call === held) {
          for (let fold = 0; fold < 3; fold++) {
            await list.open().fold({ least: 1 });
            time += pause;
          }
        }
        return send();
      });
      const request = { limit: 40, offset: 51, state: 'a' };
      expect(await list.open(folding).page(request), `folds before call ${held}`).toEqual(list.page(request));
      calls = Math.max(calls, call);
    }
    expect(rounds).toBeGreaterThan(3);
  });
});

describe('a read whose log comes two seconds after the head', () => {
  it.each([
    ['begins again, and contains the changes that folds have moved from the log meanwhile', 3_000, 2],
    ['is returned as it is if no fold can have deleted its log', 500, 1],
  ])('%s', async (_fact, pause, reads) => {
    const list = new PlainList(table, `slow-${pause}`);
    await list.set([1, 2].map((number) => [number, 'a']));
    await list.open().fold({ least: 1 });
    await list.set([3, 4].map((number) => [number, 'a']));
    const [head] = [keysOf(list.name).head];
    let heads = 0;
    let held: Promise<void> | undefined;
    const holding = tableThrough(table, async (send, { input }) => {
      if (input.Key?.['sk'] === head.sk) {
        heads += 1;
        const answer = send();
        held ??= answer.then(async () => {
          for (let fold = 0; fold < 4; fold++) {
            await list.open().fold({ least: 1 });
            pass(pause);
          }
        });
        return await answer;
      }
      await held;
      return await send();
    });
    expect(await list.open(holding).page({ limit: 1, offset: 0 })).toEqual({ numbers: [4], total: 4 });
    expect(heads).toBe(reads);
  });
});

describe('a fold that another process overtakes', () => {
  it('folds nothing once what it began with is replaced and deleted, and the list is whole', async () => {
    const list = new PlainList(table, 'overtaken');
    const nodes = '"pk":"nodes#';
    await list.fill(
      Array.from({ length: 500 }, (_, index) => (index + 1) * 70),
      'a',
    );
    await list.set([[70, 'b']]);
    let others = 0;
    const overtaken = tableThrough(table, async (send, { input }) => {
      if (others === 0 && 'RequestItems' in input && JSON.stringify(input.RequestItems).includes(nodes)) {
        for (const number of [140, 210, 280, 350]) {
          others += (await list.open().fold({ least: 1 })).folded;
          await list.set([[number, 'c']]);
          pass(3_000);
        }
      }
      return await send();
    });
    expect(await list.open(overtaken).fold({ least: 1 })).toMatchObject({ folded: 0 });
    expect(others).toBe(4);
    await settle(list.open(), pass);
    expect(await list.differences()).toEqual([]);
  });
});
