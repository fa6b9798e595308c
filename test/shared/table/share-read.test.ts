import { beforeAll, describe, expect, it } from 'vitest';
import { getItem, type Item, type Table } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { shareRead } from '../../../shared/table/share-read.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);
let table: Table;
beforeAll(() => {
  table = embedded.table;
});

/** A read that ends when it is told to. */
function heldRead() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let begun = 0;
  const read = () => {
    begun += 1;
    return promise;
  };
  return { read, resolve, reject, begun: () => begun };
}

describe('a shared read', () => {
  it('is shared by all who came while an earlier one was under way, and begins after that', async () => {
    const [first, second, third] = [heldRead(), heldRead(), heldRead()];
    const answers = [first, second, third].map(({ read }) => shareRead(table, 'page', read));
    expect([first, second, third].map(({ begun }) => begun())).toStrictEqual([1, 0, 0]);
    first.resolve('old');
    third.resolve('new');
    expect(await Promise.all(answers)).toStrictEqual(['old', 'new', 'new']);
    expect([second, third].map(({ begun }) => begun())).toStrictEqual([0, 1]);
  });

  it('begins at once if none is under way, also after a failure', async () => {
    const failed = heldRead();
    const answer = shareRead(table, 'page', failed.read);
    failed.reject(new Error('It failed.'));
    await expect(answer).rejects.toThrow('It failed.');
    const next = heldRead();
    const nextAnswer = shareRead(table, 'page', next.read);
    expect(next.begun()).toBe(1);
    next.resolve('good');
    expect(await nextAnswer).toBe('good');
  });

  it('fails only for those who share it', async () => {
    const [first, second] = [heldRead(), heldRead()];
    const answers = [shareRead(table, 'page', first.read), shareRead(table, 'page', second.read)];
    first.reject(new Error('It failed.'));
    second.resolve('good');
    expect((await Promise.allSettled(answers)).map(({ status }) => status)).toStrictEqual(['rejected', 'fulfilled']);
  });

  it('waits for no read of another name or of another table', () => {
    const begun = [
      [table, 'page'],
      [table, 'other page'],
      [{ ...table, name: 'other table' }, 'page'],
    ] as const;
    const reads = begun.map(([from, name]) => {
      const held = heldRead();
      void shareRead(from, name, held.read);
      return held;
    });
    expect(reads.map((read) => read.begun())).toStrictEqual([1, 1, 1]);
    for (const read of reads) read.resolve('');
  });

  it('contains what each caller had written before', async () => {
    const key = { pk: 'counter', sk: 'counter' };
    const readCount = () => shareRead(table, 'counter', () => getItem(table, key)) as Promise<Item>;
    for (let count = 1; count <= 30; count++) {
      await putItem(table, { ...key, count });
      const [a, b] = await Promise.all([readCount(), readCount()]);
      expect([a['count'], b['count']]).toStrictEqual([count, count]);
      void readCount();
    }
  });
});
