import type { Schemas } from 'computation-management-client';
import { describe, expect, it } from 'vitest';
import { contains, readOn } from '../../../../packages/console/assets/read-on.ts';

const rows = Array.from({ length: 700 }, (_, index) => row(`file-${index}.csv`));

describe('the assets to choose from', () => {
  it('are read on until a page has one that is wanted', async () => {
    const { readPage, offsets } = listOf(rows);
    const read = await readOn(readPage, undefined, ({ id }) => id === 'file-250.csv');
    expect(offsets).toEqual([0, 100, 200]);
    expect(read).toMatchObject({ offset: 300, total: 700 });
  });

  it('are read five pages at a time while none is wanted, and no page twice', async () => {
    const { readPage, offsets } = listOf(rows);
    const first = await readOn(readPage, undefined, () => false);
    expect(first.offset).toBe(500);
    const second = await readOn(readPage, first, () => false);
    expect(offsets).toEqual([0, 100, 200, 300, 400, 500, 600]);
    expect(second.assets).toEqual(rows);
    expect(await readOn(readPage, second, () => false)).toEqual(second);
    expect(offsets).toHaveLength(7);
  });

  it('come once each if an asset is created meanwhile', async () => {
    const first = await readOn(listOf(rows).readPage, undefined, () => true);
    const second = await readOn(listOf([row('new.csv'), ...rows]).readPage, first, () => true);
    expect(second.assets).toEqual(rows.slice(0, 199));
  });

  it('end if the list has become shorter', async () => {
    const { readPage } = listOf([]);
    expect(await readOn(readPage, { assets: [], offset: 100, total: 700 }, () => true)).toMatchObject({
      offset: 100,
      total: 100,
    });
  });

  it.each([' FILE-1 ', 'dataset', 'bob', ''])('are found by %j', (text) => {
    expect(contains(row('file-1.csv'), text)).toBe(true);
  });

  it('are not found by other text', () => {
    expect(contains(row('file-1.csv'), 'alice')).toBe(false);
  });
});

function listOf(all: Schemas['AssetRow'][]) {
  const offsets: number[] = [];
  const readPage = (offset: number) => {
    offsets.push(offset);
    return Promise.resolve({ items: all.slice(offset, offset + 100), total: all.length });
  };
  return { readPage, offsets };
}

function row(file_name: string): Schemas['AssetRow'] {
  return {
    id: file_name,
    file_name,
    description: '',
    asset_type: 'dataset',
    mime_type: '',
    size: 1,
    state: 'ready',
    checksum: '',
    created_by: 'bob',
    created_at: '2026-01-01T00:00:00Z',
    updated_at: '2026-01-01T00:00:00Z',
    content_access: 'creator',
    use: 'open',
  };
}
