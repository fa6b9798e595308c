import { describe, expect, it } from 'vitest';
import { renewUpload } from '../../../shared/assets/uploads.ts';
import * as v from 'valibot';
import { assetSchema } from '../../../shared/assets/asset.ts';
import { asset as sample } from '../../../shared/openapi/examples.ts';
import { uploadKey } from '../../../shared/assets/content-store.ts';
import { startStores } from '../../support/builders-store.ts';
import { scan } from '../../support/inconsistencies.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const stores = sharedByTests(startStores);

const asset = v.parse(assetSchema, sample);
const given_at = '2026-03-12T10:00:00.000Z';

describe('renewUpload', () => {
  it.each([
    ['no', '2026-03-12T11:00:00.000Z', []],
    ['another', '2026-03-12T11:00:00.001Z', ['2026-03-12T13:00:00.001Z']],
  ])('adds %s content check for a link that is renewed at %2$s', async (_count, now, due) => {
    const upload_key = uploadKey('d1', `asset-of-${now}`);
    const { upload } = await renewUpload(stores.table, stores.content, asset, { upload_key, given_at }, now);
    expect(upload).toMatchObject({ method: 'PUT', headers: { 'if-none-match': '*' } });
    expect(decodeURIComponent(String(upload?.url))).toContain(upload_key);
    const checks = (await scan(stores.table)).filter((item) => item['content_key'] === upload_key);
    expect(checks.map(({ sk }) => String(sk).split('#')[0])).toEqual(due);
  });
});
