import { beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { batched } from 'computation-management-counted-list';
import { writableKey } from '../../../shared/table/keys.ts';
import { type Table, getItem, type Item } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { SharedReads } from '../../../shared/table/row-lists.ts';

/** Makes a function that answers a number with its double, and notes the questions of each call. */
function doubling() {
  const calls: number[][] = [];
  const double = batched(async (numbers: number[]) => {
    calls.push(numbers);
    if (numbers.includes(0)) throw new Error('Nothing doubles to nothing.');
    return numbers.map((number) => 2 * number);
  });
  return { double, calls };
}

describe('questions of one turn', () => {
  it('are sent as one call, and each gets its own answer', async () => {
    const { double, calls } = doubling();
    expect(await Promise.all([double(1), Promise.resolve().then(() => double(2)), double(1)])).toEqual([2, 4, 2]);
    expect(calls).toEqual([[1, 1, 2]]);
    expect(await double(3)).toBe(6);
    expect(calls).toHaveLength(2);
  });

  it('fail with their call, and those of the next turn do not', async () => {
    const { double } = doubling();
    const failed = await Promise.allSettled([double(1), double(0)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await double(1)).toBe(2);
  });
});

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));
let table: Table;
beforeAll(() => {
  table = embedded.table;
});

/** Makes a read that ends when the test says so. */
function heldRead() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let begun = 0;
  const read = () => {
    begun += 1;
    return promise;
  };
  return { read, resolve, reject, begun: () => begun };
}

const withTime = (milliseconds: number): Table => {
  const deadline = new Deadline(milliseconds);
  return { ...table, deadline: () => deadline };
};

describe('reads that are shared', () => {
  it('are shared by the requests that came while an earlier one was under way, and begin after that', async () => {
    const reads = new SharedReads<string>();
    const [first, second, third] = [heldRead(), heldRead(), heldRead()];
    const answers = [first, second, third].map(({ read }) => reads.share(table, 'page', read));
    expect([first, second, third].map(({ begun }) => begun())).toStrictEqual([1, 0, 0]);
    first.resolve('old');
    second.resolve('new');
    third.resolve('new');
    expect(await Promise.all(answers)).toStrictEqual(['old', 'new', 'new']);
    expect(second.begun() + third.begun()).toBe(1);
  });

  it('contain what each request had written before it asked', async () => {
    const key = writableKey('counter', 'counter');
    const reads = new SharedReads<Item | undefined>();
    const [wasRead, mayEnd] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    await putItem(table, { ...key, count: 1 });
    const earlier = reads.share(table, 'counter', async () => {
      const item = await getItem(table, key);
      wasRead.resolve(undefined);
      await mayEnd.promise;
      return item;
    });
    await wasRead.promise;
    await putItem(table, { ...key, count: 2 });
    const later = [1, 2].map(() => reads.share(table, 'counter', () => getItem(table, key)));
    mayEnd.resolve(undefined);
    expect((await Promise.all([earlier, ...later])).map((item) => item?.['count'])).toStrictEqual([1, 2, 2]);
  });

  it('begin at once if none is under way, also after a failure', async () => {
    const reads = new SharedReads<string>();
    const failed = heldRead();
    const answer = reads.share(table, 'page', failed.read);
    failed.reject(new Error('It failed.'));
    await expect(answer).rejects.toThrow('It failed.');
    const next = heldRead();
    const nextAnswer = reads.share(table, 'page', next.read);
    expect(next.begun()).toBe(1);
    next.resolve('good');
    expect(await nextAnswer).toBe('good');
  });

  it('fail for all who share them, and for nobody else', async () => {
    const reads = new SharedReads<string>();
    const [first, shared, last] = [heldRead(), heldRead(), heldRead()];
    const answers = [first, shared, shared].map(({ read }) => reads.share(table, 'page', read));
    first.resolve('good');
    await expect.poll(() => shared.begun()).toBe(1);
    answers.push(reads.share(table, 'page', last.read));
    shared.reject(new Error('It failed.'));
    last.resolve('good');
    const outcomes = await Promise.allSettled(answers);
    expect(outcomes.map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
  });

  it('are not waited for by a request whose time is over', async () => {
    const reads = new SharedReads<string>();
    const deadline = new Deadline(1);
    const late = { ...table, deadline: () => deadline };
    const signal = deadline.signal();
    await expect.poll(() => signal.aborted).toBe(true);
    const held = heldRead();
    const earlier = reads.share(table, 'page', held.read);
    await expect(reads.share(late, 'page', held.read)).rejects.toMatchObject({ name: 'TimeoutError' });
    held.resolve('good');
    expect(await earlier).toBe('good');
  });

  it('do not stay under way when one throws at once', async () => {
    const reads = new SharedReads<string>();
    const first = heldRead();
    const answers = [
      reads.share(table, 'page', first.read),
      reads.share(table, 'page', () => {
        throw new Error('It failed.');
      }),
    ];
    first.resolve('good');
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected']);
    expect(await reads.share(table, 'page', () => Promise.resolve('good'))).toBe('good');
  });

  it('wait for no read of another name, of another table or of another kind', async () => {
    const pages = new SharedReads<string>();
    const held = heldRead();
    const answers = [
      pages.share(table, 'page', held.read),
      pages.share(table, 'other page', held.read),
      pages.share({ ...table, name: 'other table' }, 'page', held.read),
      new SharedReads<string>().share(table, 'page', held.read),
    ];
    expect(held.begun()).toBe(4);
    held.resolve('');
    await Promise.all(answers);
  });

  it('wait only a moment for one that hangs', async () => {
    const reads = new SharedReads<string>();
    const hanging = heldRead();
    const never = reads.share(table, 'page', hanging.read);
    expect(await reads.share(table, 'page', () => Promise.resolve('good'))).toBe('good');
    expect(await reads.share(table, 'page', () => Promise.resolve('better'))).toBe('better');
    hanging.resolve('late');
    expect(await never).toBe('late');
  });

  it('are made by the request with the most time left', async () => {
    const reads = new SharedReads<string>();
    const first = heldRead();
    const of = (milliseconds: number) => reads.share(withTime(milliseconds), 'page', () => Promise.resolve(String(milliseconds)));
    const answers = [reads.share(table, 'page', first.read), of(10_000), of(30_000), of(20_000)];
    first.resolve('first');
    expect(await Promise.all(answers)).toStrictEqual(['first', '30000', '30000', '30000']);
  });

  it('fail for a request whose deadline has come, and go on for the others', async () => {
    const reads = new SharedReads<string>();
    const [first, shared] = [heldRead(), heldRead()];
    const answers = [
      reads.share(table, 'page', first.read),
      reads.share(withTime(30_000), 'page', shared.read),
      reads.share(withTime(20), 'page', shared.read),
    ];
    first.resolve('first');
    await expect(answers[2]).rejects.toMatchObject({ name: 'TimeoutError' });
    shared.resolve('shared');
    expect(await answers[1]).toBe('shared');
  });
});
