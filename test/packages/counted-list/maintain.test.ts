import { countedList, HeldError, sweepLists } from 'computation-management-counted-list';
import { keysOf } from 'computation-management-counted-list/keys';
import { describe, expect, it } from 'vitest';
import { writableKey } from '../../../shared/table/keys.ts';
import { listTable } from '../../../shared/table/row-lists.ts';
import { type Table, getItem, queryPartition } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { PlainList, settle } from './plain-list.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));
let time = Date.parse('2026-01-01T00:00:00Z');
const pass = (milliseconds: number) => void (time += milliseconds);
const withClock = (): Table => ({ ...embedded.table, clock: { now: () => time, wait: async (span) => pass(span) } });

async function aList(name: string, members: number): Promise<PlainList> {
  const list = new PlainList(withClock(), name);
  await list.fill(
    Array.from({ length: members }, (_, index) => index + 1),
    'a',
  );
  return list;
}

describe('check', () => {
  it('names members whose rows differ, from a number on, and not those that are changing', async () => {
    const list = await aList('checked', 700);
    list.members.set(3, { state: 'b', version: 1 });
    list.members.set(600, { state: undefined, version: 1 });
    list.members.set(9_000, { state: 'c', version: 1 });
    expect(await list.differences()).toEqual([
      'number 3 is in state 2, in the list in state 1',
      'number 600 is in state 0, in the list in state 1',
      'number 9000 is in state 3, in the list in state 0',
    ]);
    const found: string[] = [];
    for await (const { differences } of list.open().check(list.rows, 601)) found.push(...differences);
    expect(found).toEqual(['number 9000 is in state 3, in the list in state 0']);
    let reads = 0;
    const changing = async (from: number, limit: number) => {
      if ((reads += 1) < 3) return list.rows(from, limit);
      for (const number of [3, 600, 9_000]) list.members.delete(number);
      for (const number of [3, 600]) list.members.set(number, { state: 'a', version: 1 });
      return list.rows(from, limit);
    };
    for await (const { differences } of list.open().check(changing)) expect(differences).toEqual([]);
  });

  it('names counts that differ: those of the head, and those of a node', async () => {
    const list = await aList('counts', 2_000);
    const table = withClock();
    const keys = keysOf(list.name);
    const head = (await getItem(table, keys.head)) as { totals: number[] };
    await putItem(table, { ...head, ...writableKey(keys.head.pk, keys.head.sk), totals: [0, 7, 0, 0, 0, 0, 0, 0] });
    const [node] = (await Promise.all(keys.nodes.map((pk) => queryPartition(table, pk)))).flat();
    await putItem(table, { ...writableKey(String(node?.['pk']), String(node?.['sk'])), node: Buffer.from([0, 9]) });
    const found = await list.differences();
    expect(found).toContainEqual(expect.stringMatching(/^the head counts 0,7,0.*, the tree 0,\d{4},0/));
    expect(found).toContainEqual(expect.stringMatching(/^the node from number \d+ on counts 0,1,0.*, its parent 0,\d+,0/));
  });
});

describe('rebuild', () => {
  it('shows what the rows do, although they change meanwhile, and leaves no item of the list before', async () => {
    const list = await aList('rebuilt', 2_500);
    for (const number of [7, 2_400]) list.members.delete(number); // rows that went without the log
    let changes = 0;
    const rows = async (from: number, limit: number) => {
      await list.set([[20 + changes, 'b']]);
      const read = await list.rows(from, limit);
      await list.set([[500 + changes, undefined]]);
      await list.set([[3_000 + changes, 'c']]);
      changes += 1;
      return read;
    };
    let counted = 0;
    await list.open().rebuild(rows, (count) => (counted += count));
    expect([changes, counted]).toEqual([2, expect.any(Number)]);
    expect(await list.differences()).toEqual([]);
    await settle(list.open(), pass);
    expect(await list.differences()).toEqual([]);
    const { index, nodes } = await list.stored();
    expect(index).toEqual(['/head']);
    await list.open().rebuild(list.rows);
    expect((await list.stored()).nodes).toHaveLength(nodes.length);
  });

  it('repairs a list whose tree is damaged, so that nothing can be folded', async () => {
    const list = await aList('damaged', 2_500);
    const keys = keysOf(list.name);
    for (const pk of keys.nodes) {
      for (const { sk } of await queryPartition(embedded.table, pk)) {
        await putItem(embedded.table, { ...writableKey(pk, String(sk)), node: Buffer.from([0]) });
      }
    }
    await list.set([[3, 'b']]);
    await list.open().rebuild(list.rows);
    expect(await list.differences()).toEqual([]);
  });

  it('refuses a second one, says until when, and ends its hold by itself if it dies', async () => {
    const list = await aList('held', 300);
    await expect(list.open().rebuild(() => Promise.reject(new Error('died')))).rejects.toThrow('died');
    const until = new Date(time + 120_000).toISOString();
    await expect(list.open().rebuild(list.rows)).rejects.toThrow(
      `Another rebuild holds the list held until ${until}. If that one has died`,
    );
    await list.set([[1, 'd']]);
    expect(await list.open().fold({ least: 1 })).toMatchObject({ unfolded: 1, folded: 0 });
    expect(await list.open().page({ limit: 10, offset: 0, state: 'd' })).toEqual({ numbers: [1], total: 1 });
    pass(121_000);
    expect(await list.open().fold({ least: 1 })).toMatchObject({ unfolded: 1, folded: 1 });
    await list.open().rebuild(list.rows);
    expect(await list.differences()).toEqual([]);
  });

  it('ends with HeldError where its hold was over before it was done', async () => {
    const list = await aList('overtaken', 300);
    const rows = async (from: number, limit: number) => {
      pass(200_000);
      await list.set([[1, 'd']]);
      await list.open().fold({ least: 1 });
      return await list.rows(from, limit);
    };
    await expect(list.open().rebuild(rows)).rejects.toBeInstanceOf(HeldError);
    expect(await list.differences()).toEqual([]);
  });
});

describe('fold', () => {
  it('reports members that were not in the state that they changed from, and sets the new one', async () => {
    const list = await aList('drifted', 90);
    list.members.set(5, { state: 'c', version: 1 });
    await list.set([[5, 'd']]);
    const drifted: number[] = [];
    const reporting = countedList({
      table: listTable(withClock()),
      name: list.name,
      states: { a: 1, b: 2, c: 3, d: 4 },
      onDrift: (numbers) => drifted.push(...numbers),
    });
    await reporting.fold({ least: 1 });
    expect(drifted).toEqual([5]);
    expect(await list.differences()).toEqual([]);
  });

  it('counts each change once where the answer of its commit is lost, and the SDK repeats it', async () => {
    const list = await aList('lost', 90);
    await list.set([[1, 'b']]);
    const repeating = tableThrough(withClock(), async (send, { input }) => {
      const answer = await send();
      return String(input.Item?.['sk']).endsWith('/head') ? await send() : answer;
    });
    expect(await list.open(repeating).fold({ least: 1 })).toMatchObject({ folded: 1 });
    expect(await list.differences()).toEqual([]);
    await settle(list.open(), pass);
    expect((await list.stored()).index).toEqual(['/head']);
  });
});

describe('sweepLists', () => {
  it('leaves a list that was folded a moment ago, goes on where one fails, and deletes what a fold left that died', async () => {
    const [fine, broken] = [await aList('fine', 2_000), await aList('broken', 90)];
    const table = listTable(withClock());
    const open = (name: string) => {
      const list = new PlainList(withClock(), name).open();
      return name === broken.name ? { ...list, fold: () => Promise.reject(new Error('no')) } : list;
    };
    const names = async () => (await sweepLists(table, open, 10_000)).map(({ name }) => name);
    const ofOurs = async () => (await names()).filter((name) => name === 'fine' || name === 'broken');
    await broken.set([[1, 'b']]);
    await broken.open().fold({ least: 1 });
    pass(46_000);
    await fine.set([[1, 'b']]);
    await fine.open().fold({ least: 1 });
    const dying = tableThrough(withClock(), (send, { input }) =>
      String(input.Item?.['sk']).endsWith('/head') ? Promise.reject(new Error('died')) : send(),
    );
    await fine.set(Array.from({ length: 80 }, (_, at) => [(at + 100) * 1_000, 'b']));
    await expect(fine.open(dying).fold({ least: 1 })).rejects.toThrow('died');
    expect((await fine.stored()).index.some((sk) => sk.startsWith('/plan#'))).toBe(true);
    expect(await ofOurs()).toEqual(['broken']);
    for (let minute = 0; minute < 14; minute++) {
      pass(60_000);
      await names();
    }
    expect([await fine.open().isMarked(), await broken.open().isMarked()]).toEqual([false, true]);
    expect((await fine.stored()).index.filter((sk) => sk.startsWith('/plan#'))).toEqual([]);
    expect(await fine.differences()).toEqual([]);
  });

  it('deletes what a fold wrote that lost long ago, but not while the list is rebuilt, which does so itself', async () => {
    const list = await aList('late', 2_000);
    const sweep = () => sweepLists(listTable(withClock()), (name) => new PlainList(withClock(), name).open(), 10_000);
    const plans = async () => (await list.stored()).index.filter((sk) => sk.startsWith('/plan#'));
    const loseLate = async (state: string) => {
      await list.set([[7, state]]);
      let isLate = false;
      const late = tableThrough(withClock(), async (send, { input }) => {
        if (!isLate && JSON.stringify(input).includes('/plan#')) {
          isLate = true;
          await settle(list.open(), pass);
        }
        return send();
      });
      expect(await list.open(late).fold({ least: 1 })).toMatchObject({ folded: 0 });
      expect(await plans()).toHaveLength(1);
    };
    await loseLate('b');
    let isSwept = false;
    await list.open().rebuild(async (from, limit) => {
      pass(isSwept ? 0 : 70_000);
      if (!isSwept) await sweep();
      isSwept = true;
      expect(await list.open().isMarked()).toBe(true);
      return await list.rows(from, limit);
    });
    expect(await plans()).toEqual([]);
    await loseLate('c');
    pass(11 * 60_000);
    await sweep();
    expect([await plans(), await list.open().isMarked()]).toEqual([[], false]);
    expect(await list.differences()).toEqual([]);
  });
});
