import { describe, expect, it } from 'vitest';
import { ceilingHolds } from '../../../infra/accept/check-ceiling.ts';

const limit = { changesPerSecond: 50, burst: 500 };
const level = (offered: number, answers: { limited?: number; busy?: number; others?: number } = {}) => [
  { offered, limited: 0, busy: 0, others: 0, ...answers },
];

describe('the ceiling of writes', () => {
  it('holds if the limit refused some changes with 429, and nothing else', () => {
    expect(ceilingHolds(level(2_000, { limited: 500 }), limit, 20)).toBe(true);
  });

  it.each([
    ['a 503', level(2_000, { limited: 500, busy: 1 })],
    ['another answer', level(100, { others: 1 })],
    ['no refusal of more than the limit lets pass', level(1_501)],
  ])('does not hold after %s', (_, levels) => {
    expect(ceilingHolds(levels, limit, 20)).toBe(false);
  });

  it('stays open if less was offered than the limit lets pass, and in a place without a limit', () => {
    expect(ceilingHolds(level(1_500), limit, 20)).toBeUndefined();
    expect(ceilingHolds(level(100_000, { busy: 3 }), undefined, 20)).toBeUndefined();
  });
});
