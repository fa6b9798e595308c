import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  inlineLimitInBytes,
  type StoredAsset,
  addAsset,
  changeAsset,
  removeAsset,
  readAsset,
} from '../../../shared/rows/asset.ts';
import { deleteContent } from '../../../shared/rows/content-store.ts';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { describeAsset, listAssets } from '../../../shared/assets/describe-asset.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { openList, rowLists } from '../../../shared/table/row-lists.ts';
import type { Table } from '../../../shared/table/table.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { type AnsweringServer, startAnsweringServer, status } from '../../support/answering-server.ts';
import { anAsset, anAssetRow, byAlice, startStores, type Stores } from '../../support/builders-store.ts';
import { patientDeadline, startEmbeddedTable } from '../../support/embedded-table.ts';
import { s3At } from '../../support/s3-at.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

/** Returns the number of actions that a change adds to a transaction. */
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

  it('writes the row alone if its place in lists stays the same', () => {
    expect(actionsFor(ready, { file_name: 'other.csv' })).toBe(1);
    expect(actionsFor(ready, { asset_type: ready.asset_type, state: 'ready' })).toBe(1);
    expect(actionsFor(pending, { file_name: 'other.csv' })).toBe(1);
    expect(actionsFor(pending, { state: 'ready' })).toBe(1);
    expect(actionsFor(ready, {})).toBe(1);
  });

  it('changes its list entry with its type', () => {
    const entry = actionsFor(ready, { asset_type: 'algorithm' }) - 1;
    expect(entry).toBeGreaterThan(0);
    expect(actionsFor(pending, { asset_type: 'algorithm', state: 'ready' })).toBe(1 + entry);
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
    ['in the tree', 'd3', (table: Table) => openList(table, rowLists.assets('d3')).fold({ least: 1 })],
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

let stores: Stores;
let storage: AnsweringServer;
beforeAll(async () => {
  stores = await startStores();
  storage = await startAnsweringServer();
});
afterAll(async () => {
  await storage.stop();
  await stores.stop();
});

const domain = 'd1';

async function aPendingAsset(): Promise<string> {
  const fields = { ...domainOpen, description: '', mime_type: '', user_key: '', by: 'alice', now: byAlice.now };
  return (await createAsset(stores.table, stores.content, { domain, ...fields })).id;
}

const domainOpen = {
  file_name: 'iris.csv',
  asset_type: 'dataset' as const,
  content_access: 'domain' as const,
  use: 'open' as const,
};
type Request = Parameters<typeof describeAsset>[2];
const describeFor = (id: string, by: string, isKnown?: Request['isKnown'], table = stores.table) =>
  describeAsset(table, stores.content, { domain, id, by, now: byAlice.now, isKnown });
async function read(id: string, by: string, table = stores.table) {
  const { asset } = await describeFor(id, by, undefined, table);
  if (!asset) throw new Error('The asset is not in the answer.');
  return asset;
}

/** Makes the stored size of an asset's content so large that the asset is answered with a download. */
async function makeLarge(id: string): Promise<void> {
  const asset = await readAsset(stores.table, domain, id);
  const transaction = new Transaction();
  changeAsset(transaction, domain, asset, { size: inlineLimitInBytes + 1 });
  await transaction.commit(stores.table);
}

describe('describeAsset', () => {
  it('reads no content and records no read for an answer without a body, which has the same ETag', async () => {
    const id = await anAsset(stores, domain, domainOpen);
    const { content_key } = await readAsset(stores.table, domain, id);
    const { etag } = await describeFor(id, 'alice');
    await deleteContent(stores.content, String(content_key));
    for (const by of ['alice', 'bob']) {
      const request = { domain, id, by, now: byAlice.now, withoutContent: true };
      const { asset, ...rest } = await describeAsset(stores.table, stores.content, request);
      expect([rest, asset?.asset]).toEqual([{ etag }, undefined]);
    }
    const { content_reads } =
      (await describeAsset(stores.table, stores.content, { domain, id, ...byAlice, withoutContent: true })).asset ?? {};
    expect(content_reads).toEqual([]);
  });

  it('records a read that is answered with a download', async () => {
    const id = await anAsset(stores, domain, domainOpen);
    await makeLarge(id);
    expect((await read(id, 'bob')).download?.url).toMatch(/^http/);
    expect((await read(id, 'alice')).content_reads).toHaveLength(1);
  });

  it('records no read of an asset that has no content yet', async () => {
    const id = await aPendingAsset();
    expect(await read(id, 'bob')).toMatchObject({ state: 'pending' });
    expect((await read(id, 'alice')).content_reads).toEqual([]);
  });

  it('returns no content to others if the read cannot be recorded', async () => {
    const id = await anAsset(stores, domain, domainOpen);
    stores.proxy.inject({ kind: 'dropped', share: 1, after: 1 });
    await expect(read(id, 'bob', stores.mortal)).rejects.toThrow();
    stores.proxy.inject(undefined);
  });

  it('returns and records nothing if the user has the answer', async () => {
    const id = await anAsset(stores, domain, domainOpen);
    const { content_key } = await readAsset(stores.table, domain, id);
    const { etag } = await describeFor(id, 'alice');
    await deleteContent(stores.content, String(content_key));
    const knows = (known: string) => known === etag;
    expect(await describeFor(id, 'bob', knows)).toEqual({ etag });
    expect(await describeFor(id, 'alice', knows)).toEqual({ etag });
  });

  it('returns a download although the user has the answer, and records that', async () => {
    const id = await anAsset(stores, domain, domainOpen);
    await makeLarge(id);
    const { asset } = await describeFor(id, 'bob', () => true);
    expect(asset).toHaveProperty('download');
    expect((await describeFor(id, 'alice', () => true)).asset).toMatchObject({ content_reads: [{ user: 'bob' }] });
  });

  it('returns nothing for large content that is withheld if the user has the answer', async () => {
    const id = await anAsset(stores, domain);
    await makeLarge(id);
    expect(await describeFor(id, 'bob', () => true)).not.toHaveProperty('asset');
  });

  it('throws not_found when the asset is deleted after its row was read', async () => {
    const id = await anAsset(stores, domain);
    storage.answerWith((request, response) => {
      void deleteAsset(stores.table, { domain, id, ...byAlice }).then(() =>
        status(404, '<Error><Code>NoSuchKey</Code></Error>')(request, response),
      );
    });
    const content = { bucket: 'content', client: s3At(storage.endpoint), deadline: patientDeadline };
    await expect(describeAsset(stores.table, content, { domain, id, ...byAlice })).rejects.toMatchObject({ code: 'not_found' });
  });

  it('throws an internal error when the content of an asset is not there', async () => {
    const id = await anAsset(stores, domain);
    const { content_key } = await readAsset(stores.table, domain, id);
    await deleteContent(stores.content, String(content_key));
    await expect(describeAsset(stores.table, stores.content, { domain, id, ...byAlice })).rejects.toThrow(
      'The content of an asset is missing in storage.',
    );
  });
});
