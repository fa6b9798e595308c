import { describe, expect, it } from 'vitest';
import { belongingsOfAsset, deleteInParts } from '../../../shared/deletion/belongings.ts';
import { assetKeys } from '../../../shared/table/keys.ts';
import { putItems } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { queryPartition } from '../../../shared/table/table.ts';

const embedded = sharedByTests(startEmbeddedTable);

describe('the belongings of an asset', () => {
  it('are deleted in parts of 100 items, without those of another asset', async () => {
    const { table } = embedded;
    const uses = Array.from({ length: 250 }, (_, index) => ({ ...assetKeys.use('a', `run-${index}`) }));
    await putItems(table, [...uses, { ...assetKeys.contentReads('a') }, { ...assetKeys.use('b', 'run-1') }]);
    let parts = 0;
    for await (const _ of deleteInParts(table, belongingsOfAsset(table, 'a'))) parts += 1;
    expect(parts).toBe(2);
    for (const pk of [assetKeys.uses('a'), assetKeys.contentReads('a').pk]) expect(await queryPartition(table, pk)).toEqual([]);
    expect(await queryPartition(table, assetKeys.uses('b'))).toHaveLength(1);
  });
});
