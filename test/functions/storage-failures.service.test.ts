import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localFunctions } from '../../local/functions/local-functions.ts';
import { startAnsweringServer, status, type AnsweringServer } from '../support/answering-server.ts';
import { startStores, type Stores } from '../support/builders-store.ts';
import { httpEvent } from '../support/http-event.ts';
import { setTestEnvironment } from '../support/test-environment.ts';

const invoke = localFunctions();
let stores: Stores;
let storage: AnsweringServer;

beforeAll(async () => {
  stores = await startStores();
  storage = await startAnsweringServer();
  setTestEnvironment({ ...stores.endpoints, s3: storage.endpoint }, 'ERROR');
  process.env['TABLE_NAME'] = stores.table.name;
});
afterAll(async () => {
  await storage.stop();
  await stores.stop();
});

const creation = httpEvent('POST', 'd1', {
  body: { asset: { file_name: 'a.csv', asset_type: 'dataset', asset: btoa('a,b') } },
});

/** Creates an asset with content. Returns the answer and the log entries. */
async function createAsset() {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const answer = await invoke('assets/create-asset', creation);
    const entries = write.mock.calls.map(([line]) => JSON.parse(String(line)) as unknown);
    return { answer, entries };
  } finally {
    write.mockRestore();
  }
}

describe('creating an asset while storage fails', () => {
  it('answers 500 when storage denies access, and logs the status and code', async () => {
    storage.answerWith(status(403, '<Error><Code>AccessDenied</Code></Error>'));
    const { answer, entries } = await createAsset();
    expect(answer).toMatchObject({ statusCode: 500 });
    expect(entries).toEqual([
      expect.objectContaining({
        level: 'ERROR',
        code: 'internal',
        domain: 'd1',
        error: expect.objectContaining({ name: 'AccessDenied', status: 403 }),
      }),
    ]);
  });

  it('answers 503 with Retry-After when storage is down, and logs its last answer', async () => {
    storage.answerWith(status(503));
    const { answer, entries } = await createAsset();
    expect(answer).toMatchObject({ statusCode: 503, headers: { 'retry-after': expect.any(String) } });
    expect(entries).toEqual([
      expect.objectContaining({
        level: 'ERROR',
        code: 'unavailable',
        error: expect.objectContaining({ status: 503 }),
      }),
    ]);
  });
});
