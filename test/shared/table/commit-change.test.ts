import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { deleteAsset } from '../../../shared/deletion/delete-asset.ts';
import { updateAsset } from '../../../shared/links/update-asset.ts';
import { AnswerKeptError, commitChange, type AnswerKeeper, Transaction } from '../../../shared/table/transaction.ts';
import { addHalfLinks, anAsset, byAlice, startStores, type Stores } from '../../support/builders-store.ts';
import { scan } from '../../support/inconsistencies.ts';

const domain = 'd1';
const fields = {
  file_name: 'a.csv',
  description: '',
  asset_type: 'dataset' as const,
  mime_type: '',
  user_key: '',
  content_access: 'creator' as const,
  use: 'open' as const,
};

let stores: Stores;
beforeAll(async () => {
  stores = await startStores();
});
afterAll(() => stores.stop());

/** The items, except for the numbers that a list has assigned. */
const items = async () => (await scan(stores.table)).filter(({ sk }) => sk !== 'counter');

/** That of a request whose answer is kept already. */
const answerKeeper: AnswerKeeper = {
  keep: () => {
    throw new Error('The answer is kept already.');
  },
  refuseRepeat: () => Promise.reject(new AnswerKeptError()),
};

describe('the repeat of a request', () => {
  it('unlinks nothing if it deletes an asset with more links than fit into one transaction', async () => {
    const id = await anAsset(stores, domain, { ...fields, asset: btoa('a') });
    await addHalfLinks(stores.table, id);
    const before = await items();
    await expect(deleteAsset(stores.table, { domain, id, ...byAlice, answerKeeper })).rejects.toBeInstanceOf(AnswerKeptError);
    expect(await items()).toEqual(before);
  });

  it('stores no content again', async () => {
    const id = await anAsset(stores, domain, { ...fields, asset: btoa('a') });
    const before = await items();
    const given = { ...fields, asset: btoa('b') };
    const creation = createAsset(stores.table, stores.content, {
      ...given,
      domain,
      createdBy: 'alice',
      now: byAlice.now,
      answerKeeper,
    });
    await expect(creation).rejects.toBeInstanceOf(AnswerKeptError);
    const update = updateAsset(stores.table, stores.content, { domain, id, given, ...byAlice, answerKeeper });
    await expect(update).rejects.toBeInstanceOf(AnswerKeptError);
    expect(await items()).toEqual(before);
  });
});

describe('commitChange', () => {
  it('makes no call for an empty transaction without an answer to keep', async () => {
    stores.proxy.reset();
    expect(await commitChange(stores.mortal, new Transaction(), { a: 1 }, undefined)).toEqual({ a: 1 });
    expect(stores.proxy.calls).toEqual([]);
  });
});
