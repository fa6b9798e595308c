import { createHash } from 'node:crypto';
import { numberOf } from 'computation-management-formats/identifiers';
import { listKeys, listNames, lists, type List } from '../table/keys.ts';
import type { Item } from '../table/table.ts';
import type { ListIndex, MemberChange } from './log.ts';
import type { Member, State } from './node.ts';

/** A list with its place in an index. The states are the values that it is filtered by; their codes are stored. */
export interface IndexedList<Value extends string = string> {
  rows: List;
  index: ListIndex;
  /** The id of its tree, one letter. */
  tree: string;
  states: Readonly<Record<Value, State>>;
  /** The attribute of a row with its state; absent where all members have the same. */
  stateAttribute?: string;
  /** Returns the group of a row in the tree of the list's filter. */
  groupOf?: (row: Item) => string;
}

/** One index for the computations and runs of a domain, since most changes change both. */
const domainIndex = (domain: string): ListIndex => ({
  scope: lists.computations(domain).pk,
  logShards: 2,
  trees: { c: 'o', r: 'p' },
  listsOfSmallGroups: ['r'],
});

/** The codes never change. */
const computationStates = { created: 1, running: 2, stopping: 3, completed: 4, failed: 5, cancelled: 6 } as const;
const { created: _, ...runStates } = computationStates;
const assetStates = { algorithm: 1, dataset: 2 } as const;
const oneState = { all: 1 } as const;

export const indexedLists = {
  computations: (domain: string): IndexedList<keyof typeof computationStates> => ({
    rows: lists.computations(domain),
    index: domainIndex(domain),
    tree: 'c',
    states: computationStates,
    stateAttribute: 'status',
    groupOf: ({ owner }) => groupOfOwner(String(owner)),
  }),
  runs: (domain: string): IndexedList<keyof typeof runStates> => ({
    rows: lists.runs(domain),
    index: domainIndex(domain),
    tree: 'r',
    states: runStates,
    stateAttribute: 'status',
    groupOf: ({ computation_id }) => groupOfComputation(numberOf(String(computation_id)) ?? 0),
  }),
  assets: (domain: string): IndexedList<keyof typeof assetStates> => ({
    rows: lists.assets(domain),
    index: { scope: lists.assets(domain).pk, logShards: 1, trees: { a: undefined } },
    tree: 'a',
    states: assetStates,
    stateAttribute: 'asset_type',
  }),
  linkedComputations: (assetId: string): IndexedList<keyof typeof oneState> => ({
    rows: lists.linkedComputations(assetId),
    index: { scope: lists.linkedComputations(assetId).pk, logShards: 1, trees: { l: undefined } },
    tree: 'l',
    states: oneState,
  }),
  cvms: (domain: string): IndexedList<keyof typeof oneState> => ({
    rows: lists.cvms(domain),
    index: { scope: lists.cvms(domain).pk, logShards: 1, trees: { v: undefined } },
    tree: 'v',
    states: oneState,
  }),
};

/** Returns the lists of the index with a scope. The runs of a domain go with its computations. */
export function listsOfIndex(scope: string): [IndexedList, ...IndexedList[]] | undefined {
  const [kind, id = ''] = scope.split('#');
  if (kind === listNames.computations) return [indexedLists.computations(id), indexedLists.runs(id)];
  if (kind === listNames.assets) return [indexedLists.assets(id)];
  if (kind === listNames.linkedComputations) return [indexedLists.linkedComputations(id)];
  if (kind === listNames.cvms) return [indexedLists.cvms(id)];
  return undefined;
}

/** Returns the group of a user's computations: 72 bits of a hash, since user identifiers have any length. */
export function groupOfOwner(owner: string): string {
  return createHash('sha256').update(owner).digest('base64url').slice(0, 12);
}

/** Returns the group of a computation's runs. */
export function groupOfComputation(number: number): string {
  return number.toString(36);
}

/** Returns how a member comes (`before` absent), moves to another state or goes (`now` absent). */
export function memberChange<Value extends string>(
  list: IndexedList<Value>,
  number: number,
  { before, now, ...groups }: { before?: NoInfer<Value>; now?: NoInfer<Value>; group?: string; groupBefore?: string },
): MemberChange {
  const code = (value: Value | undefined) => (value === undefined ? 0 : stateOf(list, value));
  return { list: list.tree, number, before: code(before), now: code(now), ...groups };
}

/** Returns the ids of a list's tree and, if it has one, of its filter's tree. */
export function treeIdsOf({ tree, index }: IndexedList): string[] {
  const filter = index.trees[tree];
  return filter === undefined ? [tree] : [tree, filter];
}

/** @throws TypeError if the list is not filtered by this value */
export function stateOf(list: IndexedList, value: string): State {
  const state = list.states[value];
  if (state === undefined) throw new TypeError(`The list ${list.rows.pk} has no state ${value}.`);
  return state;
}

/** Returns the number of a row by its key. */
export function numberOfRow(row: Item): number {
  return Number(String(row['sk']).slice(listKeys.prefixes.row.length));
}

/** Returns the member whose row this is. Its group is '' in a list without a filter. @throws TypeError if it has no state */
export function memberOfRow(list: IndexedList, row: Item): Member {
  return { group: list.groupOf?.(row) ?? '', number: numberOfRow(row), state: stateOfRow(list, row) };
}

/** Returns the state of a row. @throws TypeError if it has none; an internal error */
export function stateOfRow(list: IndexedList, row: Item): State {
  return stateOf(list, list.stateAttribute === undefined ? 'all' : String(row[list.stateAttribute]));
}
