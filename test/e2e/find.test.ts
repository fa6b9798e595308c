import { randomUUID } from 'node:crypto';
import { describe, expect, it, vi } from 'vitest';
import { untilTestEnds } from '../support/patience.ts';
import { newCvm, useSession } from '../support/session.ts';

const session = useSession();
const find = async (q: string, query: object = {}) => (await session.done('find/find', { query: { q, ...query } })).matches;

describe('find', () => {
  it('finds computations, assets and CVMs a few seconds after they are named, and not after they are deleted', async () => {
    const unique = `x${randomUUID().replaceAll('-', '')}`;
    const { id } = await session.createComputation({ name: `Iris ${unique}` });
    const asset = await session.createAsset({ file_name: `${unique}.csv` });
    const cvm = newCvm();
    await session.registerCvm(cvm, {});
    await vi.waitFor(async () => {
      expect(await find(unique.toUpperCase())).toEqual([
        expect.objectContaining({ kind: 'asset', id: asset.id, name: `${unique}.csv`, matched: 'name' }),
        expect.objectContaining({ kind: 'computation', id, name: `Iris ${unique}`, matched: 'name' }),
      ]);
      expect(await find(cvm)).toEqual([{ kind: 'cvm', id: cvm, name: cvm, owner: null, matched: 'id' }]);
    }, untilTestEnds);
    expect(await find(id.slice(0, 18), { kind: 'computation' })).toMatchObject([{ id, matched: 'id' }]);
    const { checksum } = await session.done('assets/get-asset', { path: { id: asset.id } });
    expect(await find(String(checksum), { limit: 50 })).toContainEqual(expect.objectContaining({ matched: 'checksum' }));
    await session.done('computations/update-computation', { path: { id }, body: { name: 'Renamed' } });
    await session.done('assets/delete-asset', { path: { id: asset.id } });
    expect(await find(unique)).toEqual([]);
  });

  it.each([
    ['query/q', { q: '' }],
    ['query/q', { q: 'a'.repeat(201) }],
    ['query/limit', { q: 'a', limit: 51 }],
    ['query/kind', { q: 'a', kind: 'run' }],
  ])('refuses a wrong %s', async (pointer, query) => {
    expect((await session.refused('find/find', { query })).errors).toMatchObject([{ pointer }]);
  });
});
