import { createHash } from 'node:crypto';
import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import type { AssetReplacement } from '../../../shared/assets/asset-input.ts';
import { dueContentChecks } from '../../../shared/rows/content-check.ts';
import { getContent, putContent } from '../../../shared/rows/content-store.ts';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { readAsset } from '../../../shared/rows/asset.ts';
import { receiveUpload } from '../../../shared/assets/uploads.ts';
import { linkAsset } from '../../../shared/assets/link-asset.ts';
import { changeInputsLater } from '../../../shared/assets/linked-computations.ts';
import { followTodo, rebuildTodo } from '../../../shared/todo/follow-changes.ts';
import { readTodo } from '../../../shared/todo/read-todo.ts';
import { streamOf } from '../../support/table-stream.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { aComputation, addHalfLinks, anAsset, byAlice, publicKey, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { tableThrough } from '../../support/embedded-table.ts';
import { readComputation } from '../../../shared/rows/computation.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const fields = { file_name: 'rows.csv', description: '', asset_type: 'dataset', mime_type: '' } as const;
const rows = btoa('a,b');
const checksumOf = (base64: string) => createHash('sha3-256').update(atob(base64)).digest('hex');
const source = { type: 'https', url: 'https://files.example.com/rows.csv' } as const;
const newAsset = () => anAsset(stores, domain, { ...fields, asset: rows });
const storedAsset = (id: string) => readAsset(stores.table, domain, id);
const update = (id: string, given: Partial<AssetReplacement>, now = byAlice.now) =>
  updateAsset(stores.table, stores.content, { domain, id, given: { ...fields, ...given }, ...byAlice, now });

describe('updateAsset', () => {
  it('keeps the stored content if the same content is given again, with or without its checksum', async () => {
    const id = await newAsset();
    const { content_key } = await storedAsset(id);
    await update(id, { asset: rows });
    await update(id, { asset: rows, checksum: checksumOf(rows) });
    expect(await storedAsset(id)).toMatchObject({ content_key, checksum: checksumOf(rows) });
  });

  it('moves `updated_at` when something has changed, and never back, also if a request began before another that is done', async () => {
    const id = await newAsset();
    const { updated_at } = await storedAsset(id);
    const later = '2025-07-18T08:00:00.000Z';
    await update(id, {}, later);
    expect((await storedAsset(id)).updated_at).toBe(updated_at);
    await update(id, { description: 'Rows' }, later);
    expect((await storedAsset(id)).updated_at).toBe(later);
    await update(id, { description: 'Slow' }, '2025-07-18T07:59:00.000Z');
    expect(await storedAsset(id)).toMatchObject({ description: 'Slow', updated_at: later });
  });

  it('refuses the same content with the checksum of other content', async () => {
    const id = await newAsset();
    const before = await storedAsset(id);
    const wrong = update(id, { asset: rows, checksum: checksumOf(btoa('c,d')) });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await storedAsset(id)).toEqual(before);
  });

  it('refuses to rename a linked algorithm because of an outdated ETag: its own link is not in the way', async () => {
    const id = await anAsset(stores, domain);
    const computationId = await aComputation(stores.table, domain);
    await linkAsset(stores.table, { domain, assetId: id, computationId, ...byAlice });
    const given = { ...fields, file_name: 'renamed.py', asset_type: 'algorithm' } as const;
    const refused = updateAsset(stores.table, stores.content, { domain, id, given, ...byAlice, matchesIfMatch: () => false });
    await expect(refused).rejects.toMatchObject({ code: 'precondition_failed' });
  });

  it('stores other content under a new key', async () => {
    const id = await newAsset();
    const { content_key } = await storedAsset(id);
    await update(id, { asset: btoa('c,d') });
    const after = await storedAsset(id);
    expect(after).toMatchObject({ checksum: checksumOf(btoa('c,d')) });
    expect(after.content_key).not.toBe(content_key);
  });

  it('moves between content and a source: an upload that is under way is dropped, and content has to arrive again', async () => {
    const upload = { ...fields, checksum: checksumOf(rows) };
    const given = {
      domain,
      ...upload,
      user_key: '',
      content_access: 'creator',
      use: 'open',
      by: 'alice',
      now: byAlice.now,
    };
    const { id, upload_key } = await createAsset(stores.table, stores.content, given as Parameters<typeof createAsset>[2]);
    const stream = streamOf(stores.table);
    await rebuildTodo(stores.table, domain, byAlice.now);
    const pending = async () => {
      await followTodo(stores.table, stream.take(), byAlice.now);
      return (await readTodo(stores.table, domain, 'alice', byAlice.now)).content.map(({ asset_id }) => asset_id);
    };
    expect(await pending()).toContain(id);
    await update(id, { source, decompress: true });
    const fetched = {
      state: 'ready',
      size: null,
      source,
      decompress: true,
      content_key: null,
      upload_key: null,
      checksum: upload.checksum,
    };
    expect(await storedAsset(id)).toMatchObject(fetched);
    expect(await pending()).not.toContain(id);
    await putContent(stores.content, String(upload_key), Buffer.from('late'));
    await receiveUpload(stores.table, stores.content, String(upload_key), byAlice.now);
    expect(await getContent(stores.content, String(upload_key))).toBeUndefined();
    expect(await storedAsset(id)).toMatchObject(fetched);

    const { asset } = await update(id, { source: null });
    expect(asset.upload).toBeDefined();
    expect(await storedAsset(id)).toMatchObject({
      state: 'pending',
      size: 0,
      source: null,
      decompress: null,
      checksum: upload.checksum,
    });
    expect(await pending()).toContain(id);

    await update(id, { source });
    await update(id, { source: null, asset: btoa('c,d') });
    const { content_key } = await storedAsset(id);
    expect(await storedAsset(id)).toMatchObject({ state: 'ready', size: 3, checksum: checksumOf(btoa('c,d')) });
    await update(id, { source });
    expect((await dueContentChecks(stores.table, '2025-08-01T00:00:00.000Z', 1_000)).map((check) => check.content_key)).toContain(
      content_key,
    );
  });

  it.each<[string, Partial<AssetReplacement>, string]>([
    ['content beside a source', { source, asset: rows }, '/asset/asset'],
    ['decompress without a source', { decompress: false }, '/asset/decompress'],
    ['a key broker without a source', { source: null, kbs: { url: 'https://kbs.example.com' } }, '/asset/kbs'],
    ['arguments for a dataset', { source, algo_args: [] }, '/asset/algo_args'],
  ])('refuses %s', async (_what, given, pointer) => {
    await expect(update(await newAsset(), given)).rejects.toThrow(`${pointer}: Expected`);
  });

  it('lets only the creator change a source, and others keep it', async () => {
    const id = await newAsset();
    await update(id, { source });
    const byBob = (given: Partial<AssetReplacement>) =>
      updateAsset(stores.table, stores.content, { domain, id, given: { ...fields, ...given }, ...byAlice, by: 'bob' });
    await byBob({ description: 'Rows', source, kbs: null });
    await expect(byBob({ source: null })).rejects.toMatchObject({ code: 'forbidden' });
    expect(await storedAsset(id)).toMatchObject({ description: 'Rows', source });
  });

  describe('of an asset that is linked', () => {
    /**
     * Creates a dataset that is linked to a computation.
     * @returns its identifier, and a function that returns how often a request changes the inputs of the computation
     */
    async function aLinkedDataset() {
      const id = await newAsset();
      const computationId = await aComputation(stores.table, domain);
      await linkAsset(stores.table, { domain, assetId: id, computationId, ...byAlice });
      const row = () => readComputation(stores.table, domain, computationId);
      const changesBy = async (given: Partial<AssetReplacement>, now = byAlice.now) => {
        const before = await row();
        await update(id, given, now);
        const after = await row();
        expect([before.dataset_count, after.dataset_count]).toEqual([1, 1]);
        return after.version - before.version;
      };
      return { id, changesBy };
    }

    it.each<[string, number, Partial<AssetReplacement>]>([
      ['another checksum', 1, { checksum: 'ab'.repeat(32) }],
      ['another key', 1, { user_key: publicKey }],
      ['another use', 1, { use: 'approval' }],
      ['a source', 1, { source }],
      ['the same key, use and checksum', 0, { user_key: '', use: 'open', checksum: checksumOf(rows) }],
      ['another description and access', 0, { description: 'Rows', content_access: 'domain' }],
    ])('with %s, changes the inputs of the computation %i times', async (_what, changes, given) => {
      expect(await (await aLinkedDataset()).changesBy(given)).toBe(changes);
    });

    it.each<[string, Partial<AssetReplacement>, number, number]>([
      ['a new checksum', { checksum: 'ab'.repeat(32) }, 0, 1],
      ['new content', { asset: btoa('c,d') }, 0, 1],
      ['a new description', { description: 'Rows' }, 0, 0],
      ['a new checksum, while a start may use the earlier asset', { checksum: 'ab'.repeat(32) }, 14_999, 1],
      ['a new checksum, after any such start', { checksum: 'ab'.repeat(32) }, 15_000, 0],
    ])('completes the change of very many computations if repeated with %s', async (_what, given, later, changes) => {
      const { id, changesBy } = await aLinkedDataset();
      await addHalfLinks(stores.table, id);
      await changesBy(given);
      expect(await changesBy(given, new Date(Date.parse(byAlice.now) + later).toISOString())).toBe(changes);
    });
  });

  it('changes inputs for ten seconds at most', async () => {
    let now = 0;
    let calls = 0;
    const clock = { now: () => now, wait: () => Promise.resolve() };
    const slow = tableThrough(stores.table, (send) => {
      calls += 1;
      now += 4_000;
      return send();
    });
    const table = { ...slow, deadline: () => new Deadline(5_000, clock) };
    const ids = Array.from({ length: 10 * 80 }, (_, index) => numberedId(1_000_000 + index));
    await changeInputsLater(table, domain, ids);
    expect(calls).toBe(3); // after 0, 4 and 8 seconds
  });
});
