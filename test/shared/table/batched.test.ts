import { describe, expect, it } from 'vitest';
import { batched } from '../../../shared/table/batched.ts';

/** Answers a number with its double, and notes the questions of each call. */
function doubling() {
  const calls: number[][] = [];
  const double = batched(async (numbers: number[]) => {
    calls.push(numbers);
    if (numbers.includes(0)) throw new Error('Nothing doubles to nothing.');
    return numbers.map((number) => 2 * number);
  });
  return { double, calls };
}

describe('questions of one turn', () => {
  it('are sent as one call, and each gets its own answer', async () => {
    const { double, calls } = doubling();
    expect(await Promise.all([double(1), Promise.resolve().then(() => double(2)), double(1)])).toEqual([2, 4, 2]);
    expect(calls).toEqual([[1, 1, 2]]);
    expect(await double(3)).toBe(6);
    expect(calls).toHaveLength(2);
  });

  it('fail with their call, and those of the next turn do not', async () => {
    const { double } = doubling();
    const failed = await Promise.allSettled([double(1), double(0)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await double(1)).toBe(2);
  });
});
