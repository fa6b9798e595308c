import { describe, expect, it } from 'vitest';
import { emptyHead, type Head } from '../../../shared/lists/head.ts';
import { leastStepsToFold } from '../../../shared/lists/least-steps.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import type { LogEntry } from '../../../shared/lists/log.ts';
import { divideEdge } from '../../../shared/lists/stored-nodes.ts';

const newest = 1_000;

/** A list of so many members. Those from `newest` on are in the head. */
function headOf(members: number): Head {
  const { leaf = new Uint8Array() } = divideEdge({ level: 0, members: [{ group: '', number: newest, state: 1 }] }, true);
  return { ...emptyHead, totals: { a: [0, members - 1, 1], b: [0, 1] }, leaves: { a: leaf }, roots: { a: 'root' } };
}

const changesOf = (numbers: number[]): LogEntry[] =>
  numbers.map((number) => {
    return {
      log: 'log',
      name: String(number),
      steps: [{ version: 1, changes: [{ list: 'a', number, before: 1, now: 2 }] }],
    };
  });
const index = { scope: 'a#d', logShards: 1, trees: { a: undefined, b: 'f' }, listsOfSmallGroups: ['b'] };
const least = (head: Head, unfolded: LogEntry[], folded: LogEntry[] = []) =>
  leastStepsToFold(index, head, { entries: [...unfolded, ...folded], unfolded });

describe('the number of changes that make a fold worth its cost', () => {
  it.each([
    [2_000, 160],
    [19_000 * 160, 160],
    [19_000 * 400, 400],
    [19_000 * 640, 640],
    [19_000 * 800, 800],
    [20_000_000, 800],
  ])('grows with a list of %i members whose old members change, from 160 to 800: %i', (members, steps) => {
    expect(least(headOf(members), changesOf([newest - 1]))).toBe(steps);
  });

  it('grows sixteen times as fast with a list whose filter has small groups', () => {
    const head = { ...headOf(2_000), totals: { a: [0, 2_000], b: [0, 500_000] } };
    expect(least(head, changesOf([newest - 1]))).toBeCloseTo(8_000_000 / 19_000);
  });

  it('grows sixteen times as fast with the runs of a domain, whose computations have few runs each', () => {
    const head = { ...headOf(2_000), totals: { r: [500_000] } };
    const unfolded = changesOf([newest - 1]);
    expect(leastStepsToFold(indexedLists.runs('d1').index, head, { entries: unfolded, unfolded })).toBeCloseTo(
      8_000_000 / 19_000,
    );
  });

  it('is 32 if at most half of the changes are of members outside the head', () => {
    const head = headOf(20_000_000);
    expect(least(head, changesOf([newest]))).toBe(32);
    expect(least(head, changesOf([newest - 1, newest]))).toBe(32);
    expect(least(head, changesOf([newest - 2, newest - 1, newest]))).toBe(800);
    expect(least(emptyHead, changesOf([1, 2, 3]))).toBe(32);
  });

  it('is an eighth of the changes in the log, folded ones included, if that is more', () => {
    const folded = changesOf(Array.from({ length: 399 }, (_, index) => index + 1));
    expect(least(headOf(2_000), changesOf([newest]), folded)).toBe(50);
  });
});
