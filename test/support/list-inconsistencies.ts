import { parseHead } from '../../shared/lists/head.ts';
import { indexedLists, stateOfRow, type IndexedList } from '../../shared/lists/indexed-list.ts';
import { parseEntry } from '../../shared/lists/log.ts';
import { countsOf, isLeaf, type Member, type TreeNode } from '../../shared/lists/node.ts';
import { decodeEdge, nodeIn } from '../../shared/lists/stored-nodes.ts';
import { differencesOf, unfoldedEntries } from '../../shared/lists/unfolded-entries.ts';
import { type AnyKey, indexKeys, listKeys } from '../../shared/table/keys.ts';
import type { Item } from '../../shared/table/table.ts';

type Partitions = Map<string, Item[]>;

const listOf: Record<string, (id: string) => IndexedList> = {
  computations: indexedLists.computations,
  assets: indexedLists.assets,
  runs: indexedLists.runs,
  linked: indexedLists.linkedComputations,
  cvms: indexedLists.cvms,
};

/** Compares the index of every list with its rows. */
export function inLists(partitions: Partitions): string[] {
  const lists = new Map([...partitions.keys()].flatMap(listsAt).map((list) => [list.rows.pk, list]));
  return [...lists.values()].flatMap((list) => inList(partitions, list));
}

/** Returns the lists whose rows or whose index may be in a partition: an index must be empty if there are no rows. */
function listsAt(pk: string): IndexedList[] {
  const [, kind = '', id = ''] = /^(?:index#|log#)?(\w+)#([^#]+)/.exec(pk) ?? [];
  const kinds = kind === 'computations' ? [kind, 'runs'] : [kind]; // they share an index
  return kinds.flatMap((each) => listOf[each]?.(id) ?? []);
}

function inList(partitions: Partitions, list: IndexedList): string[] {
  const rows = (partitions.get(list.rows.pk) ?? []).filter((item) => String(item['sk']).startsWith(listKeys.prefixes.row));
  const members = rows.map((row) => {
    const number = Number(String(row['sk']).slice(listKeys.prefixes.row.length));
    return { number, state: stateOfRow(list, row), group: list.groupOf?.(row) ?? '' };
  });
  const filter = list.index.trees[list.tree];
  return [
    ...compare(
      `${list.rows.pk} by number`,
      membersOf(partitions, list, list.tree),
      members.map((member) => ({ ...member, group: '' })),
    ),
    ...(filter === undefined ? [] : compare(`${list.rows.pk} by group`, membersOf(partitions, list, filter), members)),
    ...totalsOf(partitions, list),
  ];
}

function compare(what: string, indexed: Member[], meant: Member[]): string[] {
  const text = ({ group, number, state }: Member) => `${group}/${number} in state ${state}`;
  const [is, should] = [new Set(indexed.map(text)), new Set(meant.map(text))];
  return [
    ...[...is].filter((each) => !should.has(each)).map((each) => `${what}: the index has ${each}, and no row is so`),
    ...[...should].filter((each) => !is.has(each)).map((each) => `${what}: the index lacks ${each}`),
    ...(is.size === indexed.length ? [] : [`${what}: the index has a member twice`]),
  ];
}

const find = (partitions: Partitions, { pk, sk }: AnyKey) => partitions.get(pk)?.find((item) => item['sk'] === sk);

function headOf(partitions: Partitions, { index }: IndexedList) {
  return parseHead(find(partitions, indexKeys.head(index)));
}

/** All members of a tree and of what is not folded yet. */
function membersOf(partitions: Partitions, list: IndexedList, tree: string): Member[] {
  const { index } = list;
  const head = headOf(partitions, list);
  const entries = indexKeys.logs(index).flatMap((log) => (partitions.get(log) ?? []).map(parseEntry));
  const differences = differencesOf(index, unfoldedEntries(head, entries)).get(tree) ?? [];
  const members = new Map(storedMembers(partitions, treeOf(partitions, list, tree), list).map((each) => [placeOf(each), each]));
  for (const { group, number, before, now } of differences) {
    const place = placeOf({ group, number });
    const found = members.get(place)?.state ?? 0;
    if (found !== before)
      throw new Error(`${index.scope} ${tree}: ${place} is in state ${found}, and its change is from ${before}`);
    if (now === 0) members.delete(place);
    else members.set(place, { group, number, state: now });
  }
  return [...members.values()];
}

const placeOf = ({ group, number }: { group: string; number: number }) => `${group}/${number}`;

function treeOf(partitions: Partitions, list: IndexedList, tree: string): TreeNode {
  const head = headOf(partitions, list);
  const name = head.roots[tree];
  const root = name === undefined ? undefined : find(partitions, indexKeys.root(list.index, tree, name));
  const lower = [head.branches[tree], head.leaves[tree]].filter((bytes) => bytes !== undefined);
  return decodeEdge([...((root?.['edge'] ?? []) as Uint8Array[]), ...lower]);
}

function storedMembers(partitions: Partitions, node: TreeNode, list: IndexedList): Member[] {
  if (isLeaf(node)) return node.members;
  return node.children.flatMap((child) => {
    const id = child.id ?? '';
    const stored = child.node ?? nodeIn(find(partitions, indexKeys.node(list.index, id)) ?? {}, id);
    if (!stored) throw new Error(`${list.index.scope}: the node ${id} is gone`);
    if (countsOf(stored).join() !== child.counts.join()) throw new Error(`${list.index.scope}: a node does not have its counts`);
    return storedMembers(partitions, stored, list);
  });
}

/** The head's totals are those of the tree. */
function totalsOf(partitions: Partitions, list: IndexedList): string[] {
  const totals = headOf(partitions, list).totals[list.tree];
  const counts = countsOf(treeOf(partitions, list, list.tree));
  if ((totals ?? counts).join() === counts.join()) return [];
  return [`${list.rows.pk}: the head has the totals ${String(totals)}, its tree ${counts.join()}`];
}
