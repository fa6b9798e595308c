import { createHash } from 'node:crypto';
import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import type { AssetReplacement } from '../../../shared/assets/asset-input.ts';
import { readAsset } from '../../../shared/assets/read-asset.ts';
import { readComputation } from '../../../shared/computations/read-computation.ts';
import { linkAsset } from '../../../shared/links/link-asset.ts';
import { changeInputsLater } from '../../../shared/links/change-linked-computations.ts';
import { updateAsset } from '../../../shared/links/update-asset.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { aComputation, addHalfLinks, anAsset, byAlice, publicKey, startStores } from '../../support/builders-store.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { tableThrough } from '../../support/embedded-table.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const fields = { file_name: 'rows.csv', description: '', asset_type: 'dataset', mime_type: '' } as const;
const rows = btoa('a,b');
const checksumOf = (base64: string) => createHash('sha3-256').update(atob(base64)).digest('hex');
const newAsset = () => anAsset(stores, domain, { ...fields, asset: rows });
const storedAsset = (id: string) => readAsset(stores.table, domain, id);
const update = (id: string, given: Partial<AssetReplacement>) =>
  updateAsset(stores.table, stores.content, { domain, id, given: { ...fields, ...given }, ...byAlice });

describe('updateAsset', () => {
  it('keeps the stored content if the same content is given again, with or without its checksum', async () => {
    const id = await newAsset();
    const { content_key } = await storedAsset(id);
    await update(id, { asset: rows });
    await update(id, { asset: rows, checksum: checksumOf(rows) });
    expect(await storedAsset(id)).toMatchObject({ content_key, checksum: checksumOf(rows) });
  });

  it('moves `updated_at` when something has changed', async () => {
    const id = await newAsset();
    const { updated_at } = await storedAsset(id);
    const later = '2025-07-18T08:00:00.000Z';
    const change = (description: string) =>
      updateAsset(stores.table, stores.content, { domain, id, given: { ...fields, description }, ...byAlice, now: later });
    await change(fields.description);
    expect((await storedAsset(id)).updated_at).toBe(updated_at);
    await change('Rows');
    expect((await storedAsset(id)).updated_at).toBe(later);
  });

  it('never sets `updated_at` back, also if the request began before another one that is done', async () => {
    const id = await newAsset();
    const change = (description: string, now: string) =>
      updateAsset(stores.table, stores.content, { domain, id, given: { ...fields, description }, ...byAlice, now });
    await change('Later', '2025-07-18T08:00:00.000Z');
    await change('Slow', '2025-07-18T07:59:00.000Z');
    expect(await storedAsset(id)).toMatchObject({ description: 'Slow', updated_at: '2025-07-18T08:00:00.000Z' });
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

  describe('of an asset that is linked', () => {
    /** Returns how often the update changes the inputs of the linked computation, which still has one dataset. */
    async function changesOfInputs(given: Partial<AssetReplacement>): Promise<number> {
      const id = await newAsset();
      const computationId = await aComputation(stores.table, domain);
      await linkAsset(stores.table, { domain, assetId: id, computationId, ...byAlice });
      const before = await readComputation(stores.table, domain, computationId);
      await updateAsset(stores.table, stores.content, { domain, id, given: { ...fields, ...given }, ...byAlice });
      const after = await readComputation(stores.table, domain, computationId);
      expect([before.dataset_count, after.dataset_count]).toEqual([1, 1]);
      return after.version - before.version;
    }

    it.each([
      ['checksum', { checksum: 'ab'.repeat(32) }],
      ['key', { user_key: publicKey }],
      ['use', { use: 'approval' }],
    ] as const)('changes the inputs of the computation with another %s', async (_what, given) => {
      expect(await changesOfInputs(given)).toBe(1);
    });

    it.each([
      ['the same key, use and checksum', { user_key: '', use: 'open', checksum: checksumOf(rows) }],
      ['another description and access', { description: 'Rows', content_access: 'domain' }],
    ] as const)('leaves the inputs of the computation as they are with %s', async (_what, given) => {
      expect(await changesOfInputs(given)).toBe(0);
    });
  });

  describe('of an asset that is linked to more computations than its transaction can change', () => {
    it.each([
      ['checksum', { checksum: 'ab'.repeat(32) }, 1],
      ['content', { asset: btoa('c,d') }, 1],
      ['description', { description: 'Rows' }, 0],
    ] as const)('completes the change of the inputs when a request with a new %s is repeated', async (_what, given, changes) => {
      const id = await newAsset();
      const computationId = await aComputation(stores.table, domain);
      await linkAsset(stores.table, { domain, assetId: id, computationId, ...byAlice });
      await addHalfLinks(stores.table, id);
      await update(id, given);
      const before = await readComputation(stores.table, domain, computationId);
      await update(id, given);
      const after = await readComputation(stores.table, domain, computationId);
      expect(after.version - before.version).toBe(changes);
    });

    it.each([
      ['completes the change of the inputs', 14_999, 1],
      ['leaves the inputs as they are', 15_000, 0],
    ] as const)(
      '%s if the request is repeated %i ms later, because a start may use the earlier asset for 15 s',
      async (_what, later, changes) => {
        const id = await newAsset();
        const computationId = await aComputation(stores.table, domain);
        await linkAsset(stores.table, { domain, assetId: id, computationId, ...byAlice });
        await addHalfLinks(stores.table, id);
        const given = { ...fields, checksum: 'ab'.repeat(32) };
        await update(id, given);
        const before = await readComputation(stores.table, domain, computationId);
        const now = new Date(Date.parse(byAlice.now) + later).toISOString();
        await updateAsset(stores.table, stores.content, { domain, id, given, ...byAlice, now });
        const after = await readComputation(stores.table, domain, computationId);
        expect(after.version - before.version).toBe(changes);
      },
    );

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
});
