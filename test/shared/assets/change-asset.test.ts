import { describe, expect, it } from 'vitest';
import { addAsset, changeAsset, removeAsset } from '../../../shared/assets/change-asset.ts';
import type { StoredAsset } from '../../../shared/assets/asset.ts';
import { listAssets } from '../../../shared/assets/list-assets.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import type { Table } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { anAssetRow } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

/** The number of actions that a change takes. */
function actionsOf(change: (transaction: Transaction) => unknown): number {
  const transaction = new Transaction();
  const before = transaction.actionsLeft;
  change(transaction);
  return before - transaction.actionsLeft;
}

const pending = anAssetRow({ state: 'pending', content_key: null, upload_key: 'upload' });
const ready = anAssetRow();
const actionsFor = (asset: StoredAsset, change: Partial<StoredAsset>) =>
  actionsOf((transaction) => changeAsset(transaction, 'd1', asset, change));

describe('changeAsset', () => {
  it('returns the asset after the change, one version later', () => {
    const next = changeAsset(new Transaction(), 'd1', ready, { file_name: 'other.csv' });
    expect(next).toEqual({ ...ready, file_name: 'other.csv', version: ready.version + 1 });
  });

  it('writes the row alone if neither its place in lists nor its open task changes', () => {
    expect(actionsFor(ready, { file_name: 'other.csv' })).toBe(1);
    expect(actionsFor(ready, { asset_type: ready.asset_type, state: 'ready' })).toBe(1);
    expect(actionsFor(pending, { file_name: 'other.csv' })).toBe(1);
    expect(actionsFor(ready, {})).toBe(1);
  });

  it('closes the open task of its creator once the content has arrived', () => {
    expect(actionsFor(pending, { state: 'ready' })).toBe(2);
  });

  it('changes its list entry with its type', () => {
    const entry = actionsFor(ready, { asset_type: 'algorithm' }) - 1;
    expect(entry).toBeGreaterThan(0);
    expect(actionsFor(pending, { asset_type: 'algorithm', state: 'ready' })).toBe(2 + entry);
  });
});

describe.each([
  ['addAsset', addAsset],
  ['removeAsset', removeAsset],
])('%s', (_name, change) => {
  it('has one more action for an asset whose content has to arrive: the open task', () => {
    const actions = (asset: StoredAsset) => actionsOf((transaction) => change(transaction, 'd1', asset));
    expect(actions(pending) - actions(ready)).toBe(1);
  });
});

const embedded = sharedByTests(startEmbeddedTable);

const commit = async (change: (transaction: Transaction) => unknown) => {
  const transaction = new Transaction();
  change(transaction);
  await transaction.commit(embedded.table);
};

describe('removeAsset', () => {
  it.each([
    ['still in the log', 'd2', () => Promise.resolve()],
    ['in the tree', 'd3', (table: Table) => foldChanges(table, indexedLists.assets('d3').index, 1)],
  ])('takes the asset out of its list, %s', async (_where, domain, fold) => {
    const total = async () =>
      (await listAssets(embedded.table, domain, { limit: 1, offset: 0, asset_type: ready.asset_type })).total;
    await commit((transaction) => addAsset(transaction, domain, ready));
    await fold(embedded.table);
    expect(await total()).toBe(1);
    await commit((transaction) => removeAsset(transaction, domain, ready));
    expect(await total()).toBe(0);
  });
});
