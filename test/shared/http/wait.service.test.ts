import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { waitOf } from '../../../shared/http/wait.ts';
import { testClock } from '../../support/test-clock.ts';

beforeEach(() => {
  vi.stubEnv('WAITS_PER_STAGE', '20');
  vi.stubEnv('WAITS_PER_DOMAIN', '5');
});
afterEach(() => vi.unstubAllEnvs());

const clock = { ...testClock({ skipsWaits: true }), now: () => 1_000 };

const endOf = (seconds: number, remaining?: number) =>
  waitOf({
    endpoint: 'events/list-events',
    domain: 'd1',
    seconds,
    invocation: { clock, ...(remaining === undefined ? {} : { getRemainingTimeInMillis: () => remaining }) },
  }).endsAt;

describe('waitOf', () => {
  it.each([
    ['the time that the client gives', 20, 29_000, 21_000],
    ['that time also without a time limit of the function', 20, undefined, 21_000],
    ['no time without a wait', 0, 29_000, 1_000],
    ['as long as 5.5 seconds of the time of the function are left', 20, 9_500, 5_000],
    ['no time if less is left', 20, 5_000, 1_000],
  ])('lasts %s', (_what, seconds, remaining, end) => {
    expect(endOf(seconds, remaining)).toBe(end);
  });

  it('has the caps of the environment', () => {
    const wait = waitOf({ endpoint: 'e', domain: 'd1', seconds: 1, invocation: {} });
    expect(wait).toMatchObject({ perStage: 20, perDomain: 5 });
  });
});
