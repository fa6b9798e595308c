import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../../packages/client/calls/create-client.ts';
import { findRows, items, pages } from '../../../../packages/client/calls/pages.ts';
import type { Client } from 'computation-management-client';

/** A client of a list that the function changes after each page. */
function clientOf(list: string[], change: () => void = () => undefined) {
  return createClient({
    baseUrl: 'https://service.test',
    domain: 'd1',
    fetch: async ({ url }) => {
      const { searchParams } = new URL(url);
      const [limit, offset] = [Number(searchParams.get('limit')), Number(searchParams.get('offset'))];
      if (limit < 1 || limit > 100 || offset < 0) return new Response('{}', { status: 400 });
      const runs = list.slice(offset, offset + limit).map((id) => ({ id }));
      const answer = Response.json({ runs, limit, offset, total: list.length });
      change();
      return answer;
    },
  });
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => `e${index}`);

describe('pages', () => {
  it.each([
    [0, 100, [0]],
    [100, 100, [100]],
    [250, 100, [100, 99, 51]],
    [25, 10, [10, 10, 5]],
    [3, 1, [1, 1, 1]],
  ])('of %i entries, at most %i each, have the sizes %j', async (count, limit, sizes) => {
    const seen: number[] = [];
    for await (const page of pages(clientOf(numbers(count)), 'listRuns', { limit })) {
      expect(page.total).toBe(count);
      seen.push(page.items.length);
    }
    expect(seen).toEqual(sizes);
  });

  it('begin at an offset', async () => {
    const ids: string[] = [];
    for await (const { id } of items(clientOf(numbers(7)), 'listRuns', { offset: 4, limit: 2 })) ids.push(id);
    expect(ids).toEqual(['e4', 'e5', 'e6']);
  });
});

describe('items of a list that changes meanwhile', () => {
  it('contain every entry that stays once, and none twice', async () => {
    const change = fc.record({ added: fc.nat(4), removed: fc.array(fc.nat(60), { maxLength: 4 }) });
    const changes = fc.array(change, { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.integer({ min: 1, max: 10 }), changes, async (count, limit, steps) => {
        const list = numbers(count);
        const staying = new Set(list);
        let made = 0;
        const client = clientOf(list, () => {
          const { added, removed } = steps.shift() ?? { added: 0, removed: [] };
          for (const at of removed) for (const id of list.splice(at, 1)) staying.delete(id);
          for (let i = 0; i < added; i++) list.unshift(`new${made++}`); // newest first
        });
        const seen: string[] = [];
        for await (const { id } of items(client, 'listRuns', { limit })) seen.push(id);
        expect(new Set(seen).size).toBe(seen.length);
        expect([...staying].filter((id) => !seen.includes(id))).toEqual([]);
      }),
    );
  });

  it('contain each of more than the 10,000 entries that are known again once, while entries come', async () => {
    const list = numbers(10_500);
    const staying = [...list];
    const client = clientOf(list, () => list.unshift(`new${list.length}`));
    const seen: string[] = [];
    for await (const { id } of items(client, 'listRuns')) seen.push(id);
    expect(seen).toEqual(staying);
  });
});

const idOf = (number: number) => String(number).padStart(6, '0');

/** A client of a list of `total` rows, newest first, that counts the pages that are loaded. */
function listOf(total: number) {
  const offsets: number[] = [];
  const call = async (_: string, { offset, limit }: { offset: number; limit: number }) => {
    offsets.push(offset);
    const count = Math.max(0, Math.min(limit, total - offset));
    const assets = Array.from({ length: count }, (_, index) => ({ id: idOf(total - offset - index) }));
    return { data: { assets, limit, offset, total } };
  };
  return { offsets, find: (ids: string[]) => findRows({ call } as unknown as Client, 'listAssets', ids) };
}

describe('find rows', () => {
  it('finds rows among the newest in one page', async () => {
    const { offsets, find } = listOf(100_000);
    const found = await find([idOf(100_000), idOf(99_901)]);
    expect([...found.keys()]).toEqual([idOf(100_000), idOf(99_901)]);
    expect(offsets).toEqual([0]);
  });

  it.each([1, 7, 50_000, 73_421, 99_900])('finds row %i of 100,000 in at most 11 pages', async (number) => {
    const { offsets, find } = listOf(100_000);
    const found = await find([idOf(number)]);
    expect(found.get(idOf(number))).toEqual({ id: idOf(number) });
    expect(offsets.length).toBeLessThanOrEqual(11);
  });

  it.each(['999999', '000000', '050000x'])('leaves out %s, which is not in the list', async (id) => {
    expect((await listOf(100_000).find([id])).size).toBe(0);
  });

  it('asks for nothing if no row is wanted, and finds none in an empty list', async () => {
    const { offsets, find } = listOf(0);
    expect((await find([])).size).toBe(0);
    expect(offsets).toEqual([]);
    expect((await find(['1'])).size).toBe(0);
  });
});
