import { describe, expect, it } from 'vitest';
import { membersBetween } from '../../../shared/lists/select-members.ts';
import { countsOf, type Member, type Place, type TreeNode } from '../../../shared/lists/node.ts';

const member = (number: number, group = ''): Member => ({ group, number, state: 1 });
const at = (number: number, group = ''): Place => ({ group, number });

/** A tree of three stored leaves with the numbers 10 to 12, 20 to 22 and 30 to 32. */
function aTree() {
  const leaves = new Map<string, TreeNode>();
  for (const first of [10, 20, 30])
    leaves.set(`leaf ${first}`, { level: 0, members: [0, 1, 2].map((step) => member(first + step)) });
  const read: string[] = [];
  const tree: TreeNode = {
    level: 1,
    children: [...leaves].map(([id, leaf]) => ({ first: at(Number(id.slice(5))), counts: countsOf(leaf), id })),
  };
  const source = {
    read: (id: string) => {
      read.push(id);
      const leaf = leaves.get(id);
      return leaf ? Promise.resolve(leaf) : Promise.reject(new Error(`There is no ${id}.`));
    },
  };
  return { view: { tree, source, differences: [] }, read };
}

describe('membersBetween', () => {
  it.each([
    ['from a member on and before another one', 11, 21, [11, 12, 20], ['leaf 10', 'leaf 20']],
    ['within one leaf', 20, 22, [20, 21], ['leaf 20']],
    ['up to the beginning of a leaf', 21, 30, [21, 22], ['leaf 20']],
    ['from the beginning of a leaf', 20, 31, [20, 21, 22, 30], ['leaf 20', 'leaf 30']],
    ['before the first member', 1, 10, [], ['leaf 10']],
    ['behind the last member', 33, 99, [], ['leaf 30']],
    ['all', 0, 99, [10, 11, 12, 20, 21, 22, 30, 31, 32], ['leaf 10', 'leaf 20', 'leaf 30']],
  ])('reads the members %s, and no leaf without need', async (_what, from, to, numbers, leaves) => {
    const { view, read } = aTree();
    expect((await membersBetween(view, at(from), at(to))).map(({ number }) => number)).toEqual(numbers);
    expect(read).toEqual(leaves);
  });

  it('includes what has changed since the tree, in order, and only between the places', async () => {
    const { view } = aTree();
    const differences = [
      { ...at(5), before: 0, now: 2 },
      { ...at(11), before: 1, now: 0 },
      { ...at(12), before: 1, now: 3 },
      { ...at(15), before: 0, now: 2 },
      { ...at(21), before: 1, now: 0 },
      { ...at(25), before: 0, now: 2 },
    ];
    const members = await membersBetween({ ...view, differences }, at(10), at(25));
    expect(members.map(({ number, state }) => [number, state])).toEqual([
      [10, 1],
      [12, 3],
      [15, 2],
      [20, 1],
      [22, 1],
    ]);
    const before = await membersBetween({ ...view, differences }, at(5), at(10));
    expect(before).toEqual([{ ...at(5), state: 2 }]);
  });

  it('distinguishes groups with the same numbers', async () => {
    const tree: TreeNode = { level: 0, members: [member(1, 'a'), member(1, 'b'), member(2, 'b'), member(1, 'c')] };
    const differences = [{ ...at(2, 'b'), before: 1, now: 0 }];
    const source = { read: () => Promise.reject(new Error('The tree has no stored nodes.')) };
    const members = await membersBetween({ tree, source, differences }, at(1, 'b'), at(1, 'c'));
    expect(members).toEqual([member(1, 'b')]);
  });
});
