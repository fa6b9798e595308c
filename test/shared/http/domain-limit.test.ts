import { describe, expect, it } from 'vitest';
import { DomainLimit, type Bucket, type Taken, type Taking, takeTokens } from '../../../shared/http/domain-limit.ts';
import { limitKeys } from '../../../shared/table/keys.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { getItem } from '../../../shared/table/table.ts';

const bucket = { perSecond: 40, burst: 80 };

/** Makes a limit whose bucket gives these answers in turn. `asked` is what the bucket was asked for. */
function answering(...answers: Taken[]) {
  return answeringOf(bucket, ...answers);
}

function answeringOf(bucket: Bucket, ...answers: Taken[]) {
  const asked: Taking[] = [];
  const limit = new DomainLimit<undefined>(bucket, async (_, taking) => {
    asked.push(taking);
    return answers[asked.length - 1] ?? { isRefused: false, left: 70 };
  });
  return { asked, admit: (now: number, domain = 'd1', user = 'alice') => limit.admit(undefined, { domain, user, now }) };
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
    const { asked, admit } = answering({ isRefused: true, because: 'domain', waitInMilliseconds: 600 });
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
    const { asked, admit } = answering({ isRefused: true, because: 'domain', waitInMilliseconds: 7 * 24 * 3_600_000 });
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
    const { admit } = answering({ isRefused: true, because: 'domain', waitInMilliseconds: 62_000 });
    await expect(admit(0)).rejects.toMatchObject({
      message: expect.stringContaining('more than 40'),
      headers: { 'retry-after': '1' },
    });
  });

  it('refuses a user beyond their share, and not the others of the domain', async () => {
    const { asked, admit } = answering({ isRefused: true, because: 'user', waitInMilliseconds: 600 });
    for (const now of [0, 599]) {
      await expect(admit(now)).rejects.toMatchObject({
        code: 'too_many_requests',
        message: 'You make too many changes in the domain d1: 40 at once, while others may make changes too. Try again later.',
        headers: { 'retry-after': '1', 'ratelimit-policy': '"user-changes";q=40;w=2', ratelimit: '"user-changes";r=0;t=1' },
      });
    }
    expect(await admit(1, 'd1', 'bob')).toHaveProperty('ratelimit');
    expect(asked.map(({ user, now }) => [user, now])).toEqual([
      ['alice', 0],
      ['bob', 1],
    ]);
  });

  it('keeps the domains apart', async () => {
    const { admit } = answering({ isRefused: true, because: 'domain', waitInMilliseconds: 600 });
    await expect(admit(0, 'hot')).rejects.toThrow('The domain hot makes more than 40 changes per second.');
    expect(await admit(1, 'quiet')).toHaveProperty('ratelimit');
  });
});

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

const start = Date.parse('2026-01-01T00:00:00Z');
const take = (domain: string, tokens: number, now: number, user = 'alice') =>
  takeTokens(embedded.table, bucket, { domain, user, tokens, now: start + now });

describe('takeTokens', () => {
  it('gives the burst at once to several users, then refuses and says when the tokens are there', async () => {
    const lefts = [70, 60, 50, 40, 30, 20, 10, 0];
    for (const [index, left] of lefts.entries()) {
      expect(await take('burst', 10, 0, `user ${index}`)).toEqual({ isRefused: false, left });
    }
    expect(await take('burst', 10, 0)).toEqual({ isRefused: true, because: 'domain', waitInMilliseconds: 250 });
    expect(await take('burst', 10, 250)).toEqual({ isRefused: false, left: 0 });
  });

  it('gives one user half of the burst', async () => {
    for (const left of [70, 60, 50, 40]) expect(await take('share', 10, 0)).toEqual({ isRefused: false, left });
    expect(await take('share', 10, 0)).toEqual({ isRefused: true, because: 'user', waitInMilliseconds: 1_000 });
    expect(await take('share', 10, 0, 'bob')).toEqual({ isRefused: false, left: 30 });
    expect(await take('share', 10, 1_000)).toEqual({ isRefused: true, because: 'user', waitInMilliseconds: 250 });
    expect(await take('share', 10, 1_250)).toEqual({ isRefused: false, left: 70 });
  });

  it('gives a user who is alone all changes of the domain, and leaves a second one what it asks for beside', async () => {
    const admitted = { hot: 0, quiet: 0 };
    const seconds = 20;
    // A hot user asks 400 times a second, a quiet one four times a second from the tenth second on.
    const limits = [1, 2].map(
      () => new DomainLimit<undefined>(bucket, (_, taking) => takeTokens(embedded.table, bucket, taking)),
    );
    for (let now = 0; now < seconds * 1_000; now += 5) {
      const admit = async (user: 'hot' | 'quiet') => {
        await limits[(now / 5) % 2]?.admit(undefined, { domain: 'fair', user, now: start + now });
        admitted[user] += 1;
      };
      await admit('hot').catch(() => undefined);
      await admit('hot').catch(() => undefined);
      if (now >= 10_000 && now % 250 === 0) await admit('quiet');
      if (now === 9_995) expect(admitted.hot).toBeGreaterThan(0.85 * (bucket.perSecond * 10));
    }
    expect(admitted.quiet).toBe(40);
    expect(admitted.hot + admitted.quiet).toBeLessThanOrEqual(bucket.perSecond * seconds + bucket.burst);
  });

  it('is full again after a pause, and never fuller than the burst', async () => {
    await take('pause', 40, 0);
    await take('pause', 40, 0, 'bob');
    expect(await take('pause', 40, 2_000)).toEqual({ isRefused: false, left: 40 });
    await take('long pause', 10, 0);
    expect(await take('long pause', 10, 100_000)).toEqual({ isRefused: false, left: 70 });
  });

  it.each([
    ['several users', (index: number) => `user ${index}`, 8],
    ['one user', () => 'alice', 4],
  ])('gives %s at the same time no more than it has for them', async (name, userOf, most) => {
    const taken = await Promise.all(Array.from({ length: 20 }, (_, index) => take(`at once ${name}`, 10, 0, userOf(index))));
    expect(taken.filter(({ isRefused }) => !isRefused)).toHaveLength(most);
  });

  it('expires after an hour without use', async () => {
    await take('expiring', 1, 0);
    expect(await getItem(embedded.table, limitKeys.changes('expiring'))).toMatchObject({ ttl: start / 1000 + 3_600 });
  });
});
