import { describe, expect, it } from 'vitest';
import { findRows } from '../../../packages/client/calls/pages.ts';

const idOf = (number: number) => String(number).padStart(6, '0');

/** A list of `total` rows, newest first, that counts the pages that are loaded. */
function listOf(total: number) {
  const offsets: number[] = [];
  const load = async ({ offset, limit }: { offset: number; limit: number }) => {
    offsets.push(offset);
    const count = Math.max(0, Math.min(limit, total - offset));
    return { items: Array.from({ length: count }, (_, index) => ({ id: idOf(total - offset - index) })), total };
  };
  return { offsets, load };
}

describe('find rows', () => {
  it('finds rows among the newest in one page', async () => {
    const { offsets, load } = listOf(100_000);
    const found = await findRows([idOf(100_000), idOf(99_901)], load);
    expect([...found.keys()]).toEqual([idOf(100_000), idOf(99_901)]);
    expect(offsets).toEqual([0]);
  });

  it.each([1, 7, 50_000, 73_421, 99_900])('finds row %i of 100,000 in at most 11 pages', async (number) => {
    const { offsets, load } = listOf(100_000);
    const found = await findRows([idOf(number)], load);
    expect(found.get(idOf(number))).toEqual({ id: idOf(number) });
    expect(offsets.length).toBeLessThanOrEqual(11);
  });

  it.each(['999999', '000000', '050000x'])('leaves out %s, which is not in the list', async (id) => {
    expect((await findRows([id], listOf(100_000).load)).size).toBe(0);
  });

  it('asks for nothing if no row is wanted, and finds none in an empty list', async () => {
    const { offsets, load } = listOf(0);
    expect((await findRows([], load)).size).toBe(0);
    expect(offsets).toEqual([]);
    expect((await findRows(['1'], load)).size).toBe(0);
  });
});
