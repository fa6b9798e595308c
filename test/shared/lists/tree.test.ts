import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeTree, joinLevels } from '../../../shared/lists/change-tree.ts';
import {
  comparePlaces,
  countsOf,
  decodeNode,
  encodeNode,
  sizesOf,
  sumOf,
  type Member,
  type TreeNode,
} from '../../../shared/lists/node.ts';
import { selectMembers, type Difference } from '../../../shared/lists/select-members.ts';
import { decodeEdge, emptyTree, encodeEdge, type NodeSource, type Tree } from '../../../shared/lists/stored-nodes.ts';

/** Keeps nodes as their bytes, and drops nothing that a tree still contains. */
class MemoryStore implements NodeSource {
  readonly nodes = new Map<string, Uint8Array>();
  edge: Uint8Array[] = encodeEdge(emptyTree);
  reads = 0;

  read(id: string): Promise<TreeNode> {
    const bytes = this.nodes.get(id);
    if (!bytes) throw new Error(`The node ${id} is not stored.`);
    this.reads += 1;
    return Promise.resolve(decodeNode(bytes, false));
  }

  get tree(): Tree {
    return decodeEdge(this.edge);
  }

  async change(changes: Member[]): Promise<void> {
    const { tree, written, dropped } = await changeTree(this.tree, changes.toSorted(comparePlaces), this);
    for (const id of dropped) expect(this.nodes.delete(id)).toBe(true);
    for (const [id, node] of written) this.nodes.set(id, encodeNode(node, false));
    this.edge = encodeEdge(tree);
  }
}

const states = [1, 2, 3, 4, 5, 6, 7];

/** The members of a list as a plain map. */
function newestOf(model: Map<string, Member>, group: string, wanted: Set<number>): number[] {
  return [...model.values()]
    .filter((member) => member.group === group && wanted.has(member.state))
    .map(({ number }) => number)
    .sort((a, b) => b - a);
}

describe('a counted tree', () => {
  it('selects the same members as a plain map after random changes, with changes that it does not contain yet', async () => {
    const place = fc.record({ group: fc.constantFrom('', 'a', 'bb'), number: fc.integer({ min: 1, max: 3_000 }) });
    const change = fc.record({ place, state: fc.integer({ min: 0, max: 7 }), span: fc.constantFrom(1, 1, 5, 400) });
    const batches = fc.array(fc.array(change, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 8 });
    const request = fc.record({
      group: fc.constantFrom('', 'a', 'bb', 'c'),
      wanted: fc.constantFrom([1], [3, 5], states),
      offset: fc.integer({ min: 0, max: 1_500 }),
      limit: fc.integer({ min: 1, max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(batches, fc.array(request, { minLength: 1, maxLength: 6 }), async (all, requests) => {
        const store = new MemoryStore();
        const folded = new Map<string, Member>();
        for (const [index, batch] of all.entries()) {
          const changed = new Map<string, Member>();
          for (const { place: first, state, span } of batch) {
            for (let step = 0; step < span; step++) {
              const member = { group: first.group, number: first.number + step, state: state && ((state + step) % 7) + 1 };
              changed.set(`${member.group}/${member.number}`, member);
            }
          }
          const now = new Map(folded);
          for (const [key, member] of changed) now.set(key, member);
          const differences: Difference[] = [...changed.values()]
            .map(({ group, number, state }) => {
              return { group, number, before: folded.get(`${group}/${number}`)?.state ?? 0, now: state };
            })
            .sort(comparePlaces);
          for (const { group, wanted, offset, limit } of requests) {
            const set = new Set(wanted);
            const view = { tree: store.tree, source: store, differences };
            const expected = newestOf(now, group, set);
            expect(await selectMembers(view, { group, states: set }, { offset, limit })).toEqual({
              numbers: expected.slice(offset, offset + limit),
              total: expected.length,
            });
          }
          await store.change([...changed.values()]);
          for (const [key, member] of changed) folded.set(key, member);
          // Nothing is left behind: the stored nodes are those of the tree.
          expect(await countNodes(store.tree, store)).toBe(store.nodes.size);
          if (index === all.length - 1) {
            await store.change([...folded.values()].map((member) => ({ ...member, state: 0 })));
            expect(store.nodes.size).toBe(0);
            expect(store.tree).toEqual(emptyTree);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('keeps 200,000 members, one after another, in nodes of 900 bytes that are nearly full', async () => {
    const store = new MemoryStore();
    for (let first = 1; first <= 200_000; first += 20_000) {
      await store.change(Array.from({ length: 20_000 }, (_, index) => ({ group: '', number: first + index, state: 4 })));
    }
    const sizes = [...store.nodes.values()].map((bytes) => bytes.length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(900);
    expect(sizes.length).toBeLessThan(260);
    expect(store.edge.map((bytes) => bytes.length)).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
    store.reads = 0;
    const branch = decodeEdge(store.edge.slice(1));
    expect(sumOf(countsOf(branch), new Set([4]))).toBeGreaterThan(20_000);
    const view = { tree: store.tree, source: store, differences: [] };
    const { numbers, total } = await selectMembers(view, { group: '', states: new Set([4]) }, { offset: 150_000, limit: 10 });
    expect({ first: numbers[0], total, reads: store.reads }).toEqual({ first: 50_000, total: 200_000, reads: 2 });
  });

  it('fills its last leaf with new members, a few at a time, and reads no leaf again that is full', async () => {
    const store = new MemoryStore();
    for (let first = 1; first <= 5_000; first += 40) {
      await store.change(Array.from({ length: 40 }, (_, index) => ({ group: '', number: first + index, state: 1 })));
    }
    expect(store.reads).toBe(0);
    const sizes = [...store.nodes.values()].map((bytes) => bytes.length);
    expect(sizes).toHaveLength(5);
    expect(Math.min(...sizes)).toBeGreaterThan(800);
  });

  it('divides a leaf that becomes too large into equal parts, also the last leaf of a stored inner node', async () => {
    const store = new MemoryStore();
    const step = 1_000;
    await store.change(Array.from({ length: 30_000 }, (_, index) => ({ group: '', number: (index + 1) * step, state: 1 })));
    const { level, last } = await lastLeafOfFirstBranch(store);
    expect(level).toBe(2);
    const before = new Set(store.nodes.keys());
    await store.change(Array.from({ length: 300 }, (_, index) => ({ group: '', number: last + index + 1, state: 1 })));
    const parts = [...store.nodes].flatMap(([id, bytes]) => {
      return !before.has(id) && decodeNode(bytes, false).level === 0 ? [bytes.length] : [];
    });
    expect(parts).toHaveLength(2);
    expect(Math.max(...parts) - Math.min(...parts)).toBeLessThan(20);
  });
});

describe('sizesOf', () => {
  it('returns as many bytes as a node takes in all, without its level', () => {
    const number = fc.integer({ min: 1, max: 60_000_000 });
    const place = fc.record({ group: fc.constantFrom('', 'ü', '1k7x'), number });
    const leaf = fc.array(fc.record({ place, state: fc.constantFrom(...states) }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(leaf, (drawn) => {
        const members = drawn.map(({ place: of, state }) => ({ ...of, state })).toSorted(comparePlaces);
        const node: TreeNode = {
          level: 0,
          members: members.filter((each, at) => at === 0 || comparePlaces(members[at - 1] ?? each, each) < 0),
        };
        expect(sizesOf(node).reduce((sum, size) => sum + size, 1)).toBe(encodeNode(node, false).length);
      }),
    );
  });
});

describe('joinLevels', () => {
  it('keeps every node below a root that becomes too large at 900 bytes, also the last one', () => {
    const children = Array.from({ length: 3_000 }, (_, index) => {
      const node: TreeNode = { level: 1, children: [] };
      return { first: { group: '', number: (index + 1) * 1_000 }, counts: [0, 100], node };
    });
    const root = joinLevels(children);
    expect(root.level).toBe(3);
    const below = 'children' in root ? root.children.flatMap(({ node }) => node ?? []) : [];
    expect(below.length).toBeGreaterThan(10);
    for (const node of below) expect(sizesOf(node).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(900);
  });
});

/** Returns the number at which the last leaf below the first child of the root begins. */
async function lastLeafOfFirstBranch(store: MemoryStore): Promise<{ level: number; last: number }> {
  const { tree } = store;
  const [first] = 'children' in tree ? tree.children : [];
  const branch = await store.read(first?.id ?? '');
  return { level: tree.level, last: ('children' in branch ? branch.children.at(-1)?.first.number : undefined) ?? 0 };
}

async function countNodes(node: TreeNode, source: NodeSource): Promise<number> {
  if (node.level === 0 || !('children' in node)) return 0;
  let count = 0;
  for (const child of node.children) {
    if (child.id !== undefined) count += 1;
    count += await countNodes(child.node ?? (await source.read(child.id ?? '')), source);
  }
  return count;
}
