/** The primary key of an item in the table of the lists. Only this file has key literals. */
export interface Key {
  pk: string;
  sk: string;
}

/**
 * The number of partitions that share the log of a list's changes. A partition takes 1,000 write units a second, and a change
 * costs three units.
 */
const logShards = 2;
/** The number of partitions that share the nodes of a list's tree, because one fold may write hundreds of nodes. */
const nodeShards = 8;
const markShards = 8;

export type ListKeys = ReturnType<typeof keysOf>;

/**
 * Returns the primary keys that the items of a list have in the table.
 * @param name the name of the list: `partition` or `partition/part`. Lists with the same first part share their partitions
 */
export function keysOf(name: string) {
  const [partition = '', part = ''] = name.split('/');
  const prefix = `${part}/`;
  const logs = shards(`log#${partition}`, logShards);
  const nodes = shards(`nodes#${partition}`, nodeShards);
  const index = `index#${partition}`;
  const inIndex = (rest: string): Key => ({ pk: index, sk: prefix + rest });
  return {
    name,
    prefix,
    prefixes: { root: `${prefix}${roots}`, plan: `${prefix}plan#` },
    logs,
    entry: (number: number): Key => ({ pk: logs[number % logShards] ?? '', sk: prefix + number.toString(36) }),
    index,
    head: inIndex('head'),
    plan: (fold: string) => inIndex(`plan#${fold}`),
    nodes,
    /** Returns the key of a node of the tree or, for an identifier of `rootOf`, of a root. */
    node: (id: string): Key =>
      id.startsWith(roots) ? inIndex(id) : { pk: nodes[hashOf(id) % nodeShards] ?? '', sk: prefix + id },
    mark: { pk: markPartitions[hashOf(name) % markShards] ?? '', sk: name },
    /** The partition keys of the list, which are also those of all lists with the same first part of the name. */
    partitions: [...logs, index, ...nodes],
  };
}

const roots = 'root#';

/**
 * Returns the identifier of the root that a fold with this name writes. Identifiers sort by version, so that the newest root can
 * be found.
 */
export function rootOf(fold: string): string {
  return roots + fold;
}

const shards = (place: string, count: number): string[] => Array.from({ length: count }, (_, shard) => `${place}#${shard}`);

export const markPartitions = shards('due-lists', markShards);

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) % 65_521;
  return hash;
}

/**
 * The beginning of the partition keys of all logs of changes. Whoever follows the stream of the table to fold lists needs only
 * items with these keys.
 */
export const logPrefix = 'log#';

/** Returns the name of the list to whose log an item of the table belongs. Undefined for any other item. */
export function listOfEntry({ pk, sk }: Key): string | undefined {
  if (!pk.startsWith(logPrefix)) return undefined;
  const partition = pk.slice(logPrefix.length, pk.lastIndexOf('#'));
  const part = sk.slice(0, sk.indexOf('/'));
  return part === '' ? partition : `${partition}/${part}`;
}

/** Returns the name of the list whose head an item of the table is. Undefined for any other item. */
export function listOfHead({ pk, sk }: Key): string | undefined {
  if (!pk.startsWith('index#') || !sk.endsWith('/head')) return undefined;
  const part = sk.slice(0, -'/head'.length);
  return pk.slice('index#'.length) + (part === '' ? '' : `/${part}`);
}
