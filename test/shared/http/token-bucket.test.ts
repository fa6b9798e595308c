import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { takeTokens } from '../../../shared/http/token-bucket.ts';
import { getItem } from '../../../shared/table/table.ts';
import { limitKeys } from '../../../shared/table/keys.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
});
afterAll(async () => {
  await embedded.stop();
});

const bucket = { perSecond: 40, burst: 80 };
const start = Date.parse('2026-01-01T00:00:00Z');
const take = (domain: string, tokens: number, now: number) =>
  takeTokens(embedded.table, bucket, { domain, tokens, now: start + now });

describe('takeTokens', () => {
  it('gives the burst at once, then refuses and says when the tokens are there', async () => {
    for (const left of [70, 60, 50, 40, 30, 20, 10, 0]) expect(await take('burst', 10, 0)).toEqual({ isRefused: false, left });
    expect(await take('burst', 10, 0)).toEqual({ isRefused: true, waitInMilliseconds: 250 });
    expect(await take('burst', 10, 250)).toEqual({ isRefused: false, left: 0 });
  });

  it('is full again after a pause, and never fuller than the burst', async () => {
    await take('pause', 80, 0);
    expect(await take('pause', 80, 2_000)).toEqual({ isRefused: false, left: 0 });
    await take('long pause', 10, 0);
    expect(await take('long pause', 10, 100_000)).toEqual({ isRefused: false, left: 70 });
  });

  it('gives callers at the same time no more than it has', async () => {
    const taken = await Promise.all(Array.from({ length: 20 }, () => take('at once', 10, 0)));
    expect(taken.filter(({ isRefused }) => !isRefused)).toHaveLength(8);
  });

  it('expires after an hour without use', async () => {
    await take('expiring', 1, 0);
    expect(await getItem(embedded.table, limitKeys.changes('expiring'))).toMatchObject({ ttl: start / 1000 + 3_600 });
  });
});
