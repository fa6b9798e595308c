import { describe, expect, it } from 'vitest';
import { closeDomain, closedAt, openDomain } from '../../../shared/domains/closed-domain.ts';
import { takeTokens } from '../../../shared/http/domain-limit.ts';
import { limitKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const now = Date.parse('2026-01-01T00:00:00Z');
const hour = 3_600_000;
const week = 7 * 24 * hour;
const close = (domain: string, { at = now, fromNow = false } = {}) =>
  closeDomain(embedded.table, domain, { now: at, fromNow, tokensLiveInSeconds: 3_600 });
const closed = (domain: string, at: number) => closedAt(embedded.table, domain, at);

describe('a closed domain', () => {
  it('stays closed for a week after the last token has expired, and no longer', async () => {
    expect(await close('d1')).toBe(now);
    expect(await closed('d1', now + hour + week - 1)).toBe(now);
    expect(await closed('d1', now + hour + week)).toBeUndefined();
    expect(await getItem(embedded.table, limitKeys.changes('d1'))).toMatchObject({ ttl: (now + hour + week) / 1_000 });
  });

  it('refuses changes until then', async () => {
    await close('d2');
    const take = (at: number) => takeTokens(embedded.table, { perSecond: 50, burst: 500 }, { domain: 'd2', tokens: 1, now: at });
    expect(await take(now + hour + week - 60_000)).toMatchObject({ isRefused: true });
    expect(await take(now + hour + week)).toMatchObject({ isRefused: false });
  });

  it('counts as closed since the first time when it is closed again, unless that begins anew', async () => {
    await close('d3');
    expect(await close('d3', { at: now + 1 })).toBe(now);
    expect(await close('d3', { at: now + 2, fromNow: true })).toBe(now + 2);
    expect(await closed('d3', now + 2)).toBe(now + 2);
  });

  it('is open as soon as it is opened', async () => {
    await close('d4');
    await openDomain(embedded.table, 'd4');
    expect(await closed('d4', now)).toBeUndefined();
  });
});

describe('a domain that was never closed', () => {
  it('is open at any time, whether it has used its limit or not', async () => {
    await putItem(embedded.table, { ...limitKeys.changes('d5'), full_at: now, closed_at: now });
    expect([await closed('d5', 0), await closed('d5', now), await closed('d6', now)]).toEqual([undefined, undefined, undefined]);
  });
});
