import { describe, expect, it } from 'vitest';
import { Turns } from '../../../shared/deletion/turns.ts';

function turnsOf(works: Record<string, string[]>): Turns<string> {
  const turns = new Turns<string>(10);
  for (const [domain, ofDomain] of Object.entries(works)) for (const work of ofDomain) turns.add(domain, work);
  return turns;
}

describe('the turns of domains', () => {
  it('give a domain its work in order until its turn is over, and then the next domain', () => {
    const turns = turnsOf({ a: ['a1', 'a2', 'a3'], b: ['b1', 'b2'] });
    expect([0, 9, 10, 19, 20, 21, 22].map((now) => turns.next(now))).toEqual([
      'a1',
      'a2',
      'b1',
      'b2',
      'a3',
      undefined,
      undefined,
    ]);
  });

  it('end early for a domain without work', () => {
    const turns = turnsOf({ a: ['a1'], b: ['b1'] });
    expect([turns.next(0), turns.next(1), turns.isOver(10), turns.isOver(11)]).toEqual(['a1', 'b1', false, true]);
  });

  it('come again for work that a turn did not finish, behind the other work of the domain and the other domains', () => {
    const turns = turnsOf({ a: ['a1', 'a2'], b: ['b1'] });
    expect(turns.next(0)).toBe('a1');
    turns.add('a', 'a1');
    expect([10, 11, 21, 31].map((now) => turns.next(now))).toEqual(['b1', 'a2', 'a1', undefined]);
  });

  it('come again for the only domain', () => {
    const turns = turnsOf({ a: ['a1'] });
    expect([turns.isOver(0), turns.next(0)]).toEqual([true, 'a1']);
    turns.add('a', 'a1');
    expect([turns.next(10), turns.isOver(19)]).toEqual(['a1', false]);
  });

  it('include domains that come later', () => {
    const turns = turnsOf({ a: ['a1', 'a2'] });
    expect(turns.next(0)).toBe('a1');
    turns.add('b', 'b1');
    turns.add('a', 'a3');
    expect([10, 11, 12].map((now) => turns.next(now))).toEqual(['b1', 'a2', 'a3']);
  });
});
