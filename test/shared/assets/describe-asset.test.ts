import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteContent } from '../../../shared/assets/content-store.ts';
import { describeAsset } from '../../../shared/assets/describe-asset.ts';
import { readAsset } from '../../../shared/assets/read-asset.ts';
import { deleteAsset } from '../../../shared/deletion/delete-asset.ts';
import { startAnsweringServer, status, type AnsweringServer } from '../../support/answering-server.ts';
import { anAsset, byAlice, startStores, type Stores } from '../../support/builders-store.ts';

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

describe('describeAsset', () => {
  it('throws not_found when the asset is deleted after its row was read', async () => {
    const id = await anAsset(stores, domain);
    storage.answerWith((request, response) => {
      void deleteAsset(stores.table, { domain, id, ...byAlice }).then(() => status(404)(request, response));
    });
    const content = { ...stores.content, url: `${storage.endpoint}/content` };
    await expect(describeAsset(stores.table, content, domain, id, byAlice.now)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('throws an internal error when the content of an asset is not there', async () => {
    const id = await anAsset(stores, domain);
    const { content_key } = await readAsset(stores.table, domain, id);
    await deleteContent(stores.content, String(content_key));
    await expect(describeAsset(stores.table, stores.content, domain, id, byAlice.now)).rejects.toThrow(
      'The content of an asset is missing in storage.',
    );
  });
});
