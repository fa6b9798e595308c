import { journalKeys, listKeys, listNames, purgeKeys, type AnyKey } from './keys.ts';

/** What is read of an item to find out whose it is. */
export type ItemOfSomeDomain = AnyKey & {
  /** The domain that the item names apart from its key, if it does. */
  domain?: string;
};

/** A domain, and the identifiers of its computations and assets: many items name only these. */
export interface DomainToFind {
  domain: string;
  ids: ReadonlySet<string>;
}

/** The lists of the resources that have further items. Those name the resource and not its domain, so only its row leads to them. */
const resourceLists = [listNames.computations, listNames.runs, listNames.assets] as const;

/** The first part of a partition's name, where the second is the domain. */
const namedByDomain = new Set<string>([...resourceLists, listNames.cvms, 'user', 'cvm', 'commands', 'agent', 'limit']);

/** Where the second part is the identifier of a computation or an asset. */
const namedByResource = new Set<string>([
  'computation',
  'journal',
  'runs-of',
  listNames.linkedComputations,
  'uses',
  'content-reads',
]);

/** Where the other parts are those of a list's partition. */
const namedByList = new Set(['counter', 'log', 'index', 'nodes']);

const separator = '#';

/** Returns whether an item belongs to a domain. A domain whose name begins like that of another is not confused with it. */
export function belongsTo({ domain, ids }: DomainToFind, item: ItemOfSomeDomain): boolean {
  const isOwn = ([first = '', second = '', ...rest]: string[]): boolean => {
    if (namedByDomain.has(first)) return second === domain;
    if (namedByResource.has(first)) return ids.has(second);
    return namedByList.has(first) && isOwn([second, ...rest]);
  };
  const parts = item.pk.split(separator);
  const inKey = item.sk.split(separator);
  switch (parts[0]) {
    case 'claims':
    case 'pending-commands':
      return inKey[0] === domain;
    case 'due-folds':
      return isOwn(inKey);
    case 'content-checks':
      return inKey[1]?.split('/')[2] === domain; // the key of the content: see shared/assets/content-store.ts
    case 'purges':
    case 'answer':
    case 'gateway': // a question about a CVM
      return item.domain === domain;
    default:
      return isOwn(parts);
  }
}

/**
 * Returns whether other items of the domain are found by this one only: the rows of computations, assets and runs, and the purges of
 * deleted ones. A removal deletes them last.
 */
export function leadsToOthers(key: AnyKey): boolean {
  return purgeKeys.shards.includes(key.pk) || resourceListOf(key) !== undefined;
}

/** Returns the name of the list of resources that has the item as a row. */
function resourceListOf({ pk, sk }: AnyKey): (typeof resourceLists)[number] | undefined {
  if (!sk.startsWith(listKeys.prefixes.row)) return undefined;
  return resourceLists.find((name) => pk.startsWith(`${name}${separator}`));
}

/** What a removal counts. */
export const countedKinds = [...resourceLists, 'CVMs', 'events', 'kept answers', 'other items'] as const;
export type CountedKind = (typeof countedKinds)[number];

/** Returns what an item counts as. */
export function kindOf({ pk, sk }: AnyKey): CountedKind {
  const [first = ''] = pk.split(separator);
  if (first === 'journal' && sk.startsWith(journalKeys.prefixes.event)) return 'events';
  if (first === 'cvm') return 'CVMs';
  if (first === 'answer') return 'kept answers';
  return resourceListOf({ pk, sk }) ?? 'other items';
}

/** Returns the identifier in the sort key of a purge. */
export function idOfPurge(sk: string): string {
  const { asset, computation } = purgeKeys.prefixes;
  return sk.slice(sk.startsWith(asset) ? asset.length : computation.length);
}
