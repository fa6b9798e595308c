import { describe, expect, it } from 'vitest';
import { DomainLimit, type Bucket, type Taken, type Taking, takeTokens } from '../../../shared/http/domain-limit.ts';
import { getItem } from '../../../shared/table/table.ts';
import { limitKeys } from '../../../shared/table/keys.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const bucket = { perSecond: 40, burst: 80 };

/** A bucket that gives the answers in turn, and what it was asked for. */
function answering(...answers: Taken[]) {
  return answeringOf(bucket, ...answers);
}

function answeringOf(bucket: Bucket, ...answers: Taken[]) {
  const asked: Taking[] = [];
  const limit = new DomainLimit<undefined>(bucket, async (_, taking) => {
    asked.push(taking);
    return answers[asked.length - 1] ?? { isRefused: false, left: 70 };
  });
  return { asked, admit: (now: number, domain = 'd1') => limit.admit(undefined, domain, now) };
}

describe('DomainLimit', () => {
  it('asks the bucket for the first change, then for twice as many each time, and at last once for ten', async () => {
    const { asked, admit } = answering();
    for (let change = 0; change < 36; change++) await admit(change);
    expect(asked.map(({ tokens }) => tokens)).toEqual([1, 2, 4, 8, 10, 10, 10]);
  });

  it('forgets tokens that were not used within ten seconds', async () => {
    const { asked, admit } = answering();
    for (const now of [0, 9_999, 19_999, 29_998, 39_997]) await admit(now);
    expect(asked.map(({ now, tokens }) => [now, tokens])).toEqual([
      [0, 1],
      [9_999, 2],
      [19_999, 1],
      [29_998, 2],
    ]);
  });

  it.each([
    [24, [1, 2, 3, 3]],
    [4, [1, 1, 1, 1]],
  ])('takes at most an eighth of a burst of %d at a time, and at least one token', async (burst, taken) => {
    const { asked, admit } = answeringOf({ perSecond: 40, burst });
    for (let change = 0; asked.length < taken.length; change++) await admit(change);
    expect(asked.map(({ tokens }) => tokens)).toEqual(taken);
  });

  it('returns headers with the limit and the remaining requests', async () => {
    const { admit } = answering();
    expect(await admit(0)).toEqual({
      'ratelimit-policy': '"domain-changes";q=80;w=2',
      ratelimit: '"domain-changes";r=70;t=1',
    });
  });

  it('refuses without asking again until the bucket has tokens, and says when to come back', async () => {
    const { asked, admit } = answering({ isRefused: true, waitInMilliseconds: 600 });
    for (const now of [0, 599]) {
      await expect(admit(now)).rejects.toMatchObject({
        code: 'too_many_requests',
        headers: { 'retry-after': '1', ratelimit: '"domain-changes";r=0;t=2' },
      });
    }
    await admit(600);
    expect(asked.map(({ now }) => now)).toEqual([0, 600]);
  });

  it('says that a domain is being removed, with a longer pause for callers, and asks again after a second', async () => {
    const { asked, admit } = answering({ isRefused: true, waitInMilliseconds: 7 * 24 * 3_600_000 });
    for (const now of [0, 999]) {
      await expect(admit(now)).rejects.toMatchObject({
        code: 'too_many_requests',
        message: 'The domain d1 is being removed. You cannot change anything in it until the removal is complete.',
        headers: { 'retry-after': '60' },
      });
    }
    await admit(1_000);
    expect(asked.map(({ now }) => now)).toEqual([0, 1_000]);
  });

  it('refuses by the limit, and not as a closed domain, up to a minute beyond the time of a full refill', async () => {
    const { admit } = answering({ isRefused: true, waitInMilliseconds: 62_000 });
    await expect(admit(0)).rejects.toMatchObject({
      message: expect.stringContaining('more than 40'),
      headers: { 'retry-after': '1' },
    });
  });

  it('keeps the domains apart', async () => {
    const { admit } = answering({ isRefused: true, waitInMilliseconds: 600 });
    await expect(admit(0, 'hot')).rejects.toThrow('The domain hot makes more than 40 changes per second.');
    expect(await admit(1, 'quiet')).toHaveProperty('ratelimit');
  });
});

const embedded = sharedByTests(startEmbeddedTable);

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
