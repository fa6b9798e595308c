import { describe, expect, it } from 'vitest';
import { admitKeyRequest } from '../../../shared/releases/kbs-request.ts';
import { RateLimitError } from '../../../shared/runtime/errors.ts';

const now = Date.parse('2026-11-28T12:00:00Z');

/** Returns how many requests in a row are admitted at a time. */
function admittedAt(domain: string, time: number): number {
  for (let count = 0; ; count += 1) {
    try {
      admitKeyRequest(domain, time);
    } catch (error) {
      expect(error).toBeInstanceOf(RateLimitError);
      return count;
    }
  }
}

describe('the rate of requests for keys in a domain', () => {
  it('admits 60 at once and 10 in every second after them, in each domain', () => {
    expect(admittedAt('rate-1', now)).toBe(60);
    expect(admittedAt('rate-2', now)).toBe(60);
    expect(admittedAt('rate-1', now + 1_000)).toBe(10);
    expect(admittedAt('rate-1', now + 60_000)).toBe(60);
  });

  it('goes on when the clock of the process is set back', () => {
    expect(admittedAt('rate-3', now + 3_600_000)).toBe(60);
    expect(admittedAt('rate-3', now)).toBe(60);
  });
});
