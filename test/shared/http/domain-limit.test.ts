import { describe, expect, it } from 'vitest';
import { DomainLimit } from '../../../shared/http/domain-limit.ts';
import type { Taken, Taking } from '../../../shared/http/token-bucket.ts';

const bucket = { perSecond: 40, burst: 80 };

/** A bucket that gives the answers in turn, and what it was asked for. */
function answering(...answers: Taken[]) {
  const asked: Taking[] = [];
  const limit = new DomainLimit<undefined>(bucket, async (_, taking) => {
    asked.push(taking);
    return answers[asked.length - 1] ?? { isRefused: false, left: 70 };
  });
  return { asked, admit: (now: number, domain = 'd1') => limit.admit(undefined, domain, now) };
}

describe('DomainLimit', () => {
  it('asks the bucket once for ten changes', async () => {
    const { asked, admit } = answering();
    for (let change = 0; change < 25; change++) await admit(change);
    expect(asked.map(({ tokens }) => tokens)).toEqual([10, 10, 10]);
  });

  it('forgets tokens that were not used within ten seconds', async () => {
    const { asked, admit } = answering();
    for (const now of [0, 9_999, 10_000, 19_999, 20_000]) await admit(now);
    expect(asked.map(({ now }) => now)).toEqual([0, 10_000, 20_000]);
  });

  it('returns headers with the limit and what is left', async () => {
    const { admit } = answering();
    expect(await admit(0)).toEqual({
      'ratelimit-policy': '"domain-changes";q=80;w=2',
      ratelimit: '"domain-changes";r=79;t=1',
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

  it('keeps the domains apart', async () => {
    const { admit } = answering({ isRefused: true, waitInMilliseconds: 600 });
    await expect(admit(0, 'hot')).rejects.toThrow('The domain hot makes more than 40 changes per second.');
    expect(await admit(1, 'quiet')).toHaveProperty('ratelimit');
  });
});
