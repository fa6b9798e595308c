import { createHash } from 'node:crypto';
import { numberedId } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { getContent, putContent, uploadKey } from '../../../shared/rows/content-store.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { describeAsset } from '../../../shared/assets/describe-asset.ts';
import { putContentCheck } from '../../../shared/rows/content-check.ts';
import { receiveUpload } from '../../../shared/assets/uploads.ts';
import { storedAsset, assetKey, readAsset } from '../../../shared/rows/asset.ts';
import { keyToWrite } from '../../../shared/table/keys.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { collectContent } from '../../../shared/assets/collect-content.ts';
import { purgeAll } from '../../../shared/deletion/purge-all.ts';
import { clockOfTests } from '../../support/append-to-journal.ts';
import { contentKeys, dieAtEveryCall } from '../../support/builders-purge.ts';
import { anAsset, byAlice, startStores } from '../../support/builders-store.ts';
import { scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { parseStored } from '../../../shared/table/stored.ts';
import { getItem, type Item } from '../../../shared/table/table.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';
const fields = { file_name: 'iris.csv', description: '', asset_type: 'dataset' as const, mime_type: '', user_key: '' };
const create = (asset: string | undefined, table = stores.table) =>
  createAsset(table, stores.content, {
    domain,
    ...fields,
    content_access: 'creator',
    use: 'open',
    asset,
    by: 'alice',
    now: clockOfTests,
  });
const replace = (id: string, asset: string | undefined, table = stores.table) =>
  updateAsset(table, stores.content, {
    domain,
    id,
    given: { ...fields, asset },
    ...byAlice,
  });
const hoursLater = (hours: number) => new Date(Date.parse(clockOfTests) + hours * 3_600_000).toISOString();
const collect = (hours = 3) => collectContent(stores.table, stores.content, hoursLater(hours));
const contentOf = async (id: string) =>
  (await describeAsset(stores.table, stores.content, { domain, id, ...byAlice })).asset?.asset;

async function expectOnlyNamedContent(death = ''): Promise<void> {
  const items = await scan(stores.table);
  const assets = items.filter((item) => item['pk'] === `assets#${domain}` && 'content_key' in item);
  const named = assets.map((item) => parseStored(storedAsset, item, 'asset').content_key).filter((key) => key !== null);
  expect([death, ...(await contentKeys(stores.content)).sort()]).toEqual([death, ...named.sort()]);
}

describe('collectContent', () => {
  it('removes content that no row names, and no other, at whichever call a creation died', async () => {
    const kept = await anAsset(stores, domain);
    const calls = await dieAtEveryCall(
      stores,
      () => Promise.resolve(),
      () => create(btoa('orphan'), stores.mortal),
      async (_, death) => {
        await collect();
        await expectOnlyNamedContent(death);
      },
      1,
    );
    expect(calls).toBeGreaterThan(4);
    expect(await contentOf(kept)).toBe(btoa('print(1)'));
  });

  it('removes replaced content, and none that a row names, at whichever call a replacement died', async () => {
    const calls = await dieAtEveryCall(
      stores,
      () => anAsset(stores, domain),
      (id) => replace(id, btoa('new'), stores.mortal),
      async (id, death) => {
        await collect();
        await expectOnlyNamedContent(death);
        expect([btoa('print(1)'), btoa('new')]).toContain(await contentOf(id));
      },
      1,
    );
    expect(calls).toBeGreaterThan(6);
  });

  it('keeps replaced content for two hours, for those who are about to read it', async () => {
    const id = await anAsset(stores, domain);
    const before = await readAsset(stores.table, domain, id);
    await replace(id, btoa('new'));
    await collect(1);
    expect(await (await getContent(stores.content, String(before.content_key)))?.transformToString()).toBe('print(1)');
    await collect(3);
    expect(await getContent(stores.content, String(before.content_key))).toBeUndefined();
    expect(await contentOf(id)).toBe(btoa('new'));
  });

  it('makes an upload whose notification got lost the content of its asset', async () => {
    const { id } = await create(undefined);
    const { upload_key } = await readAsset(stores.table, domain, id);
    await putContent(stores.content, String(upload_key), Buffer.from('large'));
    await collect();
    expect(await contentOf(id)).toBe(btoa('large'));
    await expectOnlyNamedContent();
  });

  it('removes an upload that no asset awaits any more', async () => {
    const { id } = await create(undefined);
    const { upload_key } = await readAsset(stores.table, domain, id);
    await replace(id, btoa('sent inline instead'));
    await putContent(stores.content, String(upload_key), Buffer.from('late'));
    await collect();
    await expectOnlyNamedContent();
    expect(await contentOf(id)).toBe(btoa('sent inline instead'));
  });

  it('leaves no content checks in the table when all are settled', async () => {
    const { id } = await create(undefined);
    await deleteAsset(stores.table, { domain, id, ...byAlice });
    await purgeAll(stores.table, stores.content);
    await collect();
    expect((await scan(stores.table)).filter((item) => String(item['pk']).startsWith('content-checks'))).toEqual([]);
  });

  it('settles all checks that are due, however many it reads at once', async () => {
    await collect();
    const keys = Array.from({ length: 12 }, (_, number) => uploadKey(domain, numberedId(5_000 + number)));
    await Promise.all(keys.map((key) => putContent(stores.content, key, Buffer.from('orphan'))));
    await transact(
      stores.table,
      keys.map((key) => putContentCheck(key, clockOfTests)),
    );
    expect(await collectContent(stores.table, stores.content, hoursLater(3), 5)).toBe(12);
    await expectOnlyNamedContent();
    expect(await collect()).toBe(0);
  });

  it('settles the other checks if one fails, throws, and settles the failed one later', async () => {
    const [{ id }, orphan] = [await create(undefined), uploadKey(domain, numberedId(4711))];
    const { upload_key } = await readAsset(stores.table, domain, id);
    await putContent(stores.content, orphan, Buffer.from('orphan'));
    await transact(stores.table, [putContentCheck(orphan, clockOfTests)]);
    const key = assetKey(domain, id);
    const row = await getItem(stores.table, key);
    const write = (item: Item) => transact(stores.table, [{ put: { Item: { ...item, ...keyToWrite(key) } } }]);
    await write({ ...row, size: 'damaged' });
    await expect(collect()).rejects.toBeInstanceOf(AggregateError);
    expect(await getContent(stores.content, orphan)).toBeUndefined();
    await write(row ?? {});
    await putContent(stores.content, String(upload_key), Buffer.from('large'));
    await collect();
    expect(await contentOf(id)).toBe(btoa('large'));
    await expectOnlyNamedContent();
  });
});

/**
 * A step in the life of an upload, `at` so many hours after the asset's creation: the upload ends, its event arrives, or content
 * checks run. Storage gives back no content if `broken`.
 */
type Step =
  { at: number; arrives: true } | { at: number; told: true; broken?: true } | { at: number; collects: true; broken?: true };

describe('an upload', () => {
  const arrives = (at: number): Step => ({ at, arrives: true });
  const told = (at: number): Step => ({ at, told: true });
  const collects = (at: number): Step => ({ at, collects: true });
  const broken = (step: Step): Step => ({ ...step, broken: true });
  const steps = {
    'arrived and its event was lost': [arrives(1), collects(3)],
    'could not be read for an hour': [arrives(1), broken(told(1)), broken(collects(2.1)), collects(3.1)],
    'could not be read for a day': [
      arrives(1),
      broken(told(1)),
      ...[3, 10, 26, 27].map((at) => broken(collects(at))),
      collects(28),
    ],
    'arrived before the service was stopped for a day, and storage with it': [
      arrives(1),
      ...[30, 31, 60].map((at) => broken(collects(at))),
      collects(61),
    ],
    'ended after its content check': [collects(2.1), arrives(3), told(3)],
    'ended after its content check, and could not be read at first': [
      collects(2.1),
      arrives(3),
      broken(told(3)),
      broken(collects(5.1)),
      collects(5.4),
    ],
    'ended after its content check, and its event was lost': [collects(2.1), arrives(3), collects(29)],
  };

  it.each(Object.entries(steps))('is taken that %s', async (_case, steps) => {
    const { id, upload_key } = await create(undefined);
    const key = String(upload_key);
    let hasFailed = false;
    for (const step of steps) {
      const now = hoursLater(step.at);
      if ('arrives' in step) {
        await putContent(stores.content, key, Buffer.from('large'));
        continue;
      }
      const store = step.broken ? { ...stores.content, bucket: 'another' } : stores.content;
      const call = 'told' in step ? receiveUpload(stores.table, store, key, now) : collectContent(stores.table, store, now);
      await (step.broken ? expect(call).rejects.toThrow() : call);
      hasFailed ||= 'told' in step && step.broken === true;
      const { asset } = await describeAsset(stores.table, stores.content, { domain, id, by: 'alice', now });
      if (asset?.state === 'pending')
        expect([step, asset.upload?.problem?.includes('the service tries again.')]).toEqual([step, hasFailed || undefined]);
    }
    expect(await contentOf(id)).toBe(btoa('large'));
    await collect(100);
    await expectOnlyNamedContent();
  });

  it('that never arrives is checked once more after a day, and can be sent with a new link', async () => {
    const { id, upload_key } = await create(undefined);
    const checks = async () => (await scan(stores.table)).filter((item) => item['content_key'] === upload_key && 'sk' in item);
    for (const at of [3, 30]) {
      expect(await checks()).toHaveLength(1);
      await collect(at);
    }
    expect(await checks()).toEqual([]);
    const { asset } = await replace(id, undefined);
    expect((await fetch(String(asset.upload?.url), { method: 'PUT', headers: asset.upload?.headers ?? {}, body: 'b' })).ok).toBe(
      true,
    );
    await collect();
    expect(await contentOf(id)).toBe(btoa('b'));
  });

  it('can be sent again at once while storage cannot give it back, however often, and leaves nothing else', async () => {
    const { id, upload_key } = await create(undefined);
    await putContent(stores.content, String(upload_key), Buffer.from('first'));
    const away = { ...stores.content, bucket: 'another' };
    await expect(receiveUpload(stores.table, away, String(upload_key), clockOfTests)).rejects.toThrow();
    for (const [hour, text] of [
      [5, 'second'],
      [9, 'third'],
    ] as const) {
      const request = { domain, id, by: 'alice', now: hoursLater(hour) };
      for (const _read of [1, 2]) await describeAsset(stores.table, stores.content, request);
      const { asset } = await describeAsset(stores.table, stores.content, request);
      const { url = '', headers = {} } = asset?.upload ?? {};
      expect((await fetch(url, { method: 'PUT', headers, body: text })).status).toBe(200);
      if (text === 'third') continue;
      await expect(collectContent(stores.table, away, hoursLater(8.1))).rejects.toThrow();
      const { upload_key: second } = await readAsset(stores.table, domain, id);
      await expect(receiveUpload(stores.table, away, String(second), hoursLater(8.1))).rejects.toThrow();
    }
    const { upload_key: latest } = await readAsset(stores.table, domain, id);
    await receiveUpload(stores.table, stores.content, String(latest), hoursLater(9));
    expect(await contentOf(id)).toBe(btoa('third'));
    await collect(100);
    await expectOnlyNamedContent();
  });

  it('that could not be read goes with its asset', async () => {
    const { id, upload_key } = await create(undefined);
    await putContent(stores.content, String(upload_key), Buffer.from('large'));
    const away = { ...stores.content, bucket: 'another' };
    await expect(receiveUpload(stores.table, away, String(upload_key), clockOfTests)).rejects.toThrow();
    await deleteAsset(stores.table, { domain, id, ...byAlice });
    await purgeAll(stores.table, stores.content);
    await expectOnlyNamedContent();
  });
});

describe('content checks that fail', () => {
  it('do not delay later ones, even if they fill a whole read', async () => {
    await collect();
    const { id } = await create(undefined);
    const stuck = Array.from({ length: 5 }, () => uploadKey(domain, id));
    const orphan = uploadKey(domain, numberedId(4712));
    await putContent(stores.content, orphan, Buffer.from('orphan'));
    const earlier = hoursLater(-1);
    await transact(stores.table, [...stuck.map((key) => putContentCheck(key, earlier)), putContentCheck(orphan, clockOfTests)]);
    const key = assetKey(domain, id);
    const row = await getItem(stores.table, key);
    const write = (item: Item) => transact(stores.table, [{ put: { Item: { ...item, ...keyToWrite(key) } } }]);
    await write({ ...row, size: 'damaged' });
    const failures = stuck.map((key) => {
      return expect.objectContaining({ message: expect.stringMatching(`^${key}: `) as string }) as Error;
    });
    await expect(collectContent(stores.table, stores.content, hoursLater(3), 5)).rejects.toMatchObject({
      message: '6 of 7 content checks failed.',
      errors: expect.arrayContaining(failures) as Error[],
    });
    expect(await getContent(stores.content, orphan)).toBeUndefined();
    await write(row ?? {});
    await collect();
    await expectOnlyNamedContent();
  });
});

describe('the content of an asset', () => {
  it('is whole for every reader while it is replaced', async () => {
    const id = await anAsset(stores, domain);
    const texts = Array.from({ length: 8 }, (_, index) => btoa(`version ${index} `.repeat(1000)));
    const writers = Promise.all(texts.map((text) => replace(id, text)));
    const read = new Set<string | undefined>();
    for (let reader = 0; reader < 30; reader++) read.add(await contentOf(id));
    await writers;
    read.add(await contentOf(id));
    expect([...read].filter((text) => !texts.includes(text ?? '') && text !== btoa('print(1)'))).toEqual([]);
    await collect();
    await expectOnlyNamedContent();
  });

  it('is received once when its arrival is notified three times, and not from an upload that the asset does not await', async () => {
    const { id } = await create(undefined);
    const { upload_key } = await readAsset(stores.table, domain, id);
    await putContent(stores.content, String(upload_key), Buffer.from('large'));
    const stranger = uploadKey(domain, id);
    await putContent(stores.content, stranger, Buffer.from('stranger'));
    const told = [upload_key, upload_key, stranger].map((key) =>
      receiveUpload(stores.table, stores.content, String(key), clockOfTests),
    );
    await Promise.all(told);
    await receiveUpload(stores.table, stores.content, String(upload_key), clockOfTests);
    const checksum = createHash('sha3-256').update('large').digest('hex');
    expect(await readAsset(stores.table, domain, id)).toMatchObject({ state: 'ready', size: 5, checksum, version: 2 });
    expect(await contentOf(id)).toBe(btoa('large'));
    expect(await getContent(stores.content, stranger)).toBeUndefined();
  });
});
