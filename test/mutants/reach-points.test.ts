import { describe, expect, it } from 'vitest';
import { instrumented, pointAround, reachPointsOf } from './reach-points.ts';

const text = 'const a = 1; function f(x: number) { if (x > a) { return g(() => x); } return a; }';
const names = new Map(reachPointsOf('a.ts', text).map(({ id, start }) => [id, text.slice(start, start + 8)]));

describe('pointAround', () => {
  it.each([
    ['a = 1', 'const a '],
    ['x > a', '{ if (x '],
    ['g(()', '{ return'],
    ['return a', '{ if (x '],
  ])('finds the innermost block around %j', (code, start) => {
    expect(names.get(pointAround(reachPointsOf('a.ts', text), text.indexOf(code)))).toBe(start);
  });
});

describe('instrumented', () => {
  it('gives code that does the same and says every point that it reaches', () => {
    const reached: string[] = [];
    Object.assign(globalThis, { __mutantsReached: (id: string) => reached.push(id) });
    const nested = 'const f = (x) => (y) => [x, y].map((z) => { return z + 1; }); f(1)(2);';
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- code is what is tested
    const run = new Function(instrumented('a.ts', nested).replace('f(1)(2);', 'globalThis.answer = f(1)(2);')) as () => void;
    run();
    expect((globalThis as { answer?: unknown }).answer).toEqual([2, 3]);
    expect(new Set(reached)).toEqual(new Set(reachPointsOf('a.ts', nested).map(({ id }) => id)));
  });
});
