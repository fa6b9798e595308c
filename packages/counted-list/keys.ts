/** The keys of an item of the table. Only this file has key literals. */
export interface Key {
  pk: string;
  sk: string;
}

/** A partition takes 1,000 write units a second, and a change costs three of its log. */
const logShards = 2;
/** A fold may write hundreds of nodes. */
const nodeShards = 8;
const markShards = 8;

export type ListKeys = ReturnType<typeof keysOf>;

/** Returns the keys of a list in the table. @param name `partition` or `partition/part`; lists with the same first part share their partitions */
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
    /** The place of a node or, by an identifier of `rootOf`, of a root. */
    node: (id: string): Key =>
      id.startsWith(roots) ? inIndex(id) : { pk: nodes[hashOf(id) % nodeShards] ?? '', sk: prefix + id },
    mark: { pk: markPartitions[hashOf(name) % markShards] ?? '', sk: name },
    /** The partitions of the list, or of all lists with the same first part of the name. */
    partitions: [...logs, index, ...nodes],
  };
}

const roots = 'root#';

/** Returns the identifier of the root that a fold writes. Sorted by version, so that the newest is found. */
export function rootOf(fold: string): string {
  return roots + fold;
}

function shards(place: string, count: number): string[] {
  return Array.from({ length: count }, (_, shard) => `${place}#${shard}`);
}

export const markPartitions = shards('due-lists', markShards);

function hashOf(text: string): number {
  let hash = 0;
  for (let at = 0; at < text.length; at++) hash = (hash * 31 + text.charCodeAt(at)) % 65_521;
  return hash;
}

/** The beginning of the partition keys of logs. Whoever folds follows no other writes of the table. */
export const logPrefix = 'log#';

/** Returns the name of the list that an item of a log belongs to. Undefined for any other item. */
export function listOfEntry({ pk, sk }: Key): string | undefined {
  if (!pk.startsWith(logPrefix)) return undefined;
  const partition = pk.slice(logPrefix.length, pk.lastIndexOf('#'));
  const part = sk.slice(0, sk.indexOf('/'));
  return part === '' ? partition : `${partition}/${part}`;
}

/** Returns the name of the list whose head an item is. Undefined for any other item. */
export function listOfHead({ pk, sk }: Key): string | undefined {
  if (!pk.startsWith('index#') || !sk.endsWith('/head')) return undefined;
  const part = sk.slice(0, -'/head'.length);
  return pk.slice('index#'.length) + (part === '' ? '' : `/${part}`);
}
