import { describe, expect, it } from 'vitest';
import { deletePartition } from '../../../shared/deletion/delete-partition.ts';
import { assetKeys, keyToWrite, listKeys, lists } from '../../../shared/table/keys.ts';
import { queryPartition } from '../../../shared/table/table.ts';
import { putItem, putItems } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

describe('deletePartition', () => {
  it('deletes more items than one of its queries reads, and none of another partition', async () => {
    const { table } = embedded;
    const uses = Array.from({ length: 101 }, (_, index) => ({ ...assetKeys.use('a', String(index)) }));
    await putItems(table, [...uses, { ...assetKeys.use('b', '1') }]);
    await deletePartition(table, assetKeys.uses('a'));
    expect(await queryPartition(table, assetKeys.uses('a'))).toEqual([]);
    expect(await queryPartition(table, assetKeys.uses('b'))).toHaveLength(1);
  });

  it('refuses to delete rows with a single writer', async () => {
    const { table } = embedded;
    const { pk } = lists.runs('d1');
    await putItem(table, { ...keyToWrite(listKeys.row(lists.runs('d1'), 1)) });
    await expect(deletePartition(table, pk)).rejects.toThrow(TypeError);
    expect(await queryPartition(table, pk)).toHaveLength(1);
  });
});
