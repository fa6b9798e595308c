import { describe, expect, it } from 'vitest';
import { readEvents } from '../../../shared/events/read-events.ts';
import { removeKey, uploadKey } from '../../../shared/keys/participant-keys.ts';
import { linkAsset } from '../../../shared/assets/link-asset.ts';
import {
  aComputation,
  aDatasetOfBob,
  aKey,
  aKeyOf,
  anApproval,
  aReadyComputation,
  aRun,
  aSharedComputation,
  byAlice,
  startStores,
} from '../../support/builders-store.ts';
import { beforeTheNextTransaction } from '../../support/interleave.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { readComputation } from '../../../shared/rows/computation.ts';

const stores = sharedByTests(startStores);
const domain = 'd1';

const versionOf = async (id: string) => (await readComputation(stores.table, domain, id)).version;
const upload = (id: string, user: string, fields = {}) => uploadKey(stores.table, domain, id, aKeyOf(user, fields));
const remove = (id: string, user: string) =>
  removeKey(stores.table, { domain, computationId: id, user, by: user, now: byAlice.now, permitOther: () => undefined });

describe('uploadKey', () => {
  it('records one event for the same key sent twice', async () => {
    const id = await aComputation(stores.table, domain);
    await aKey(stores.table, domain, id);
    await aKey(stores.table, domain, id);
    const { events } = await readEvents(stores.table, id, {}, { limit: 10, offset: 0 });
    expect(events.map(({ event_type }) => event_type)).toEqual(['key_uploaded', 'created']);
  });
});

describe('the key of', () => {
  it.each([
    ['the owner', 'alice', {}],
    ['the creator of a linked asset', 'bob', {}],
    ['a result consumer', 'carol', { is_consumer: true }],
  ])('%s changes the inputs when it comes, is replaced and goes', async (_who, user, fields) => {
    const { id } = await aSharedComputation(stores, domain, 'open');
    await remove(id, user);
    for (const change of [
      () => upload(id, user, fields),
      () => upload(id, user, { ...fields, user_key: btoa('another') }),
      () => remove(id, user),
    ]) {
      const before = await versionOf(id);
      await change();
      expect(await versionOf(id)).toBe(before + 1);
    }
  });

  it.each([
    ['a viewer', 'dora', {}],
    ['a consumer whom the computation does not name', 'eve', { is_consumer: true }],
  ])('%s changes no inputs, and its events are recorded', async (_who, user, fields) => {
    const id = await aComputation(stores.table, domain, 'Iris', ['bob']);
    const before = await versionOf(id);
    await upload(id, user, fields);
    await upload(id, user, { ...fields, user_key: btoa('another') });
    await remove(id, user);
    expect(await versionOf(id)).toBe(before);
    const { events } = await readEvents(stores.table, id, {}, { limit: 10, offset: 0 });
    expect(events.map(({ event_type }) => event_type)).toEqual(['key_removed', 'key_uploaded', 'key_uploaded', 'created']);
  });

  it('a user who has approved changes the inputs, also if no asset of theirs is linked any more', async () => {
    const { id } = await aSharedComputation(stores, domain, 'open');
    await anApproval(stores, domain, id, 'frank');
    const before = await versionOf(id);
    await upload(id, 'frank');
    expect(await versionOf(id)).toBe(before + 1);
  });

  it('a user whose asset is linked meanwhile changes the inputs', async () => {
    const { id } = await aReadyComputation(stores, domain);
    const assetId = await aDatasetOfBob(stores, domain, 'meanwhile.csv', 'open');
    beforeTheNextTransaction(stores.mortal, () => linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice }));
    const before = await versionOf(id);
    await uploadKey(stores.mortal, domain, id, aKeyOf('bob'));
    expect(await versionOf(id)).toBe(before + 2);
  });
});

describe('a start', () => {
  it('is made while four viewers replace their keys', async () => {
    let isOver = false;
    let replaced = 0;
    const { id } = await aReadyComputation(stores, domain);
    const rotate = async (user: string) => {
      for (let count = 0; !isOver; count++) {
        await upload(id, user, { user_key: btoa(`${user} ${count}`) });
        replaced += 1;
      }
    };
    const viewers = ['v1', 'v2', 'v3', 'v4'].map(rotate);
    try {
      await aRun(stores, domain, id, 'cvm-beside-viewers');
    } finally {
      isOver = true;
    }
    await Promise.all(viewers);
    expect(replaced).toBeGreaterThan(0);
    expect(await readComputation(stores.table, domain, id)).toMatchObject({ status: 'running' });
  });

  it('goes on from the journal as it is when others append to it just before its transaction, and reads no input again', async () => {
    const { id } = await aReadyComputation(stores, domain);
    let reads = 0;
    beforeTheNextTransaction(stores.mortal, async () => {
      await upload(id, 'dora');
      stores.mortal.document.middlewareStack.add(
        (next, { commandName }) =>
          (sent) => {
            if (commandName === 'QueryCommand') reads += 1;
            return next(sent);
          },
        { name: 'count', step: 'initialize' },
      );
    });
    await aRun({ table: stores.mortal, executions: stores.executions }, domain, id, 'cvm-after-append');
    stores.mortal.document.middlewareStack.remove('count');
    expect(reads).toBe(0);
  });
});
