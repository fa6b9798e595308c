import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deleteDeadNodes } from '../../../shared/lists/dead-nodes.ts';
import { foldChanges } from '../../../shared/lists/fold.ts';
import { groupOfComputation, indexedLists } from '../../../shared/lists/indexed-list.ts';
import { logChange } from '../../../shared/lists/log.ts';
import { afterAllNumbers, isLeaf, type TreeNode } from '../../../shared/lists/node.ts';
import { selectMembers } from '../../../shared/lists/select-members.ts';
import { readWholeLog, unfoldedEntries } from '../../../shared/lists/unfolded-entries.ts';
import { readTree, withSnapshot } from '../../../shared/lists/snapshot.ts';
import { readHead } from '../../../shared/lists/head.ts';
import { StoredNodes } from '../../../shared/lists/stored-nodes.ts';
import { indexKeys } from '../../../shared/table/keys.ts';
import { queryPartition, type Table } from '../../../shared/table/table.ts';
import { transact } from '../../../shared/table/transaction.ts';
import { amount } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { type Command, type EmbeddedTable, startEmbeddedTable, tableThrough } from '../../support/embedded-table.ts';

const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const random = seededRandom(seed);
const members = amount({ sample: 1_200, full: 3_000 });
const changesOfRound = 30;
const states = [1, 2, 3];

let embedded: EmbeddedTable;
let table: Table;
let time = Date.parse('2026-01-01T00:00:00Z');
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  table = { ...embedded.table, clock: { now: () => time, wait: () => Promise.resolve() } };
});
afterAll(() => embedded.stop());

/** Runs, each of a computation of its own: the tree of the filter has many leaves, and changes far apart replace many of them. */
class Runs {
  readonly list;
  private readonly now = new Map<number, { state: number; version: number }>();

  constructor(domain: string) {
    this.list = indexedLists.runs(domain);
  }

  async create(): Promise<void> {
    for (let first = 1; first <= members; first += changesOfRound * 3) {
      const numbers = Array.from({ length: changesOfRound * 3 }, (_, at) => first + at).filter((number) => number <= members);
      await this.change(numbers.map((number) => [number, 1]));
    }
  }

  async changeSome(): Promise<void> {
    const numbers = Array.from({ length: changesOfRound }, () => 1 + Math.floor(random() * members));
    await this.change([...new Set(numbers)].map((number) => [number, Math.floor(random() * (states.length + 1))]));
  }

  private async change(changes: [number, number][]): Promise<void> {
    const writes = changes.map(([number, now]) => {
      const { state: before, version } = this.now.get(number) ?? { state: 0, version: 0 };
      this.now.set(number, { state: now, version: version + 1 });
      const member = { list: this.list.tree, number, before, now, group: groupOfComputation(afterAllNumbers - number) };
      return logChange(this.list.index, number, { version: version + 1, changes: [member] });
    });
    await transact(table, writes);
  }

  async expectRight(): Promise<void> {
    const { index, tree } = this.list;
    const found = await withSnapshot(table, index, async (snapshot) => {
      const whole = { offset: 0, limit: members };
      const view = await snapshot.view(tree);
      return await Promise.all(
        states.map((state) => selectMembers(view, { group: '', states: new Set([state]) }, whole).then(({ numbers }) => numbers)),
      );
    });
    const inState = (state: number) => [...this.now].filter(([, member]) => member.state === state).map(([number]) => number);
    expect(found).toEqual(states.map((state) => inState(state).sort((a, b) => b - a)));
    const filter = index.trees[tree] ?? '';
    const numbersOf = (wanted: (state: number) => boolean) =>
      [...this.now].filter(([, { state }]) => wanted(state)).map(([number]) => number);
    const head = await readHead(table, index);
    // The trees have all members only once nothing is left in the log.
    if (head.folds.length > 0 || unfoldedEntries(head, await readWholeLog(table, index, head)).length > 0) return;
    const inFilter = await this.membersOf(await readTree(table, index, head, filter));
    expect(inFilter.sort((a, b) => a - b)).toEqual(numbersOf((state) => state > 0).sort((a, b) => a - b));
  }

  private async membersOf(node: TreeNode): Promise<number[]> {
    if (isLeaf(node)) return node.members.map(({ number }) => number);
    const source = new StoredNodes(table, this.list.index);
    const below = await Promise.all(
      node.children.map(async (child) => this.membersOf(child.node ?? (await source.read(child.id ?? '')))),
    );
    return below.flat();
  }

  /** The identifiers of the nodes that the trees contain. */
  private async used(node: TreeNode): Promise<string[]> {
    if (isLeaf(node)) return [];
    const source = new StoredNodes(table, this.list.index);
    const below = await Promise.all(
      node.children.map(async ({ id, node: read }) => [
        ...(id === undefined ? [] : [id]),
        ...(await this.used(read ?? (await source.read(id ?? '')))),
      ]),
    );
    return below.flat();
  }

  /** Folds all that is left, and returns the items of nodes, and the nodes of the trees. */
  async foldAll(): Promise<{ stored: string[]; used: string[]; nodesOfItems: number[] }> {
    const { index, tree } = this.list;
    for (let round = 0; round < 8; round++) {
      await foldChanges(table, index, 1);
      time += 5_000;
    }
    await deleteDeadNodes(table, index);
    const head = await readHead(table, index);
    const trees = [tree, index.trees[tree] ?? ''];
    const used = (await Promise.all(trees.map(async (id) => this.used(await readTree(table, index, head, id))))).flat();
    const items = (await Promise.all(indexKeys.nodeShards(index).map((shard) => queryPartition(table, shard)))).flat();
    return {
      stored: items.map(({ sk }) => String(sk)).sort(),
      used: used.map((id) => indexKeys.node(index, id).sk).sort(),
      nodesOfItems: items.map(({ nodes }) => Object.keys(nodes as object).length),
    };
  }
}

/** Throws before or after one of the calls through it, as if its process had died. */
function dyingTable(after: number): Table {
  let calls = 0;
  return tableThrough(table, async (send) => {
    calls += 1;
    if (calls > after) throw new Error('died');
    const answer = await send();
    if (calls === after && random() < 0.5) throw new Error('died');
    return answer;
  });
}

async function foldOrDie(runs: Runs): Promise<void> {
  const dies = random() < 0.6;
  await foldChanges(dies ? dyingTable(1 + Math.floor(random() ** 2 * (members / 20))) : table, runs.list.index, 1).catch(
    (error: unknown) => {
      if (!(dies && error instanceof Error && error.message === 'died')) throw error;
    },
  );
}

async function play(runs: Runs, folders: number): Promise<void> {
  await runs.create();
  for (let round = 0; round < amount({ sample: 6, full: 100 }); round++) {
    await runs.changeSome();
    await Promise.all(Array.from({ length: folders }, () => foldOrDie(runs)));
    time += Math.floor(random() * 6_000);
    await runs.expectRight();
  }
}

describe('nodes that take the places of dead ones', () => {
  it(`are those of the trees, one in an item, whenever folds die (TEST_SEED=${seed})`, async () => {
    const runs = new Runs('d1');
    await play(runs, 1);
    const { stored, used, nodesOfItems } = await runs.foldAll();
    await runs.expectRight();
    expect(stored).toEqual(used);
    expect(new Set(nodesOfItems)).toEqual(new Set([1]));
  });

  it(`are those of the trees if several fold at once (TEST_SEED=${seed})`, async () => {
    const runs = new Runs('d2');
    await play(runs, 3);
    const { stored, used } = await runs.foldAll();
    await runs.expectRight();
    expect(used.filter((node) => !stored.includes(node))).toEqual([]);
  });

  it('cost no deletion while changes come', async () => {
    const runs = new Runs('d3');
    await runs.create();
    let deletions = 0;
    const watched = tableThrough(table, (send, command) => {
      if (isDeletionOfNodes(command)) deletions += 1;
      return send();
    });
    for (let round = 0; round < 5; round++) {
      await runs.changeSome();
      await foldChanges(watched, runs.list.index, 1);
      time += 5_000;
    }
    expect(deletions).toBe(0);
    await runs.expectRight();
    const { stored, used } = await runs.foldAll();
    expect(stored).toEqual(used);
  });
});

/** Returns whether a call deletes nodes, alone or in a batch. */
function isDeletionOfNodes(command: Command): boolean {
  const input = JSON.stringify(command.input);
  return input.includes('nodes#') && (command.constructor.name === 'DeleteCommand' || input.includes('DeleteRequest'));
}
