import { isDeepStrictEqual } from 'node:util';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { keysOf, listOfEntry, listOfHead, type ListKeys } from 'computation-management-counted-list/keys';
import { countsOf, decodeNode, isLeaf, type Member, stateOf, type TreeNode } from '../../packages/counted-list/node.ts';
import { numberOf } from 'computation-management-formats/identifiers';
import { computationStatuses } from 'computation-management-formats/vocabulary';
import { isActive } from '../../shared/rows/run.ts';
import { chainedEvent, parseHead, parseStoredEvent, publicEvent, type StoredEvent } from '../../shared/journal/journal.ts';
import { type RowList, rowLists, numberOfRow, stateOfRow } from '../../shared/table/row-lists.ts';
import { cvmKeys, listKeys, listNames, lists } from '../../shared/table/keys.ts';
import { addDays, daysOf as loggedDays, decodeDays } from '../../packages/counted-list/days.ts';
import { parseHead as parseListHead, treeOf } from '../../packages/counted-list/head.ts';
import { differencesOf, parseEntry, unfoldedOf } from '../../packages/counted-list/log.ts';
import { emptyRoot, type Root } from '../../packages/counted-list/view.ts';
import type { Table, Item } from '../../shared/table/table.ts';

/** Reads every item of the table. */
export async function scan(table: Table): Promise<Item[]> {
  const items: Item[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await table.document.send(
      new ScanCommand({ TableName: table.name, ConsistentRead: true, ExclusiveStartKey: start }),
    );
    items.push(...(page.Items ?? []));
    start = page.LastEvaluatedKey;
  } while (start);
  return items;
}

/** Describes the contradictions in a table. A table without a writer at work has none. */
export function inconsistencies(items: Item[]): string[] {
  const partitions = Map.groupBy(items, (item) => String(item['pk']));
  return [
    ...inLists(partitions),
    ...[...partitions].flatMap(([pk, members]) => inJournal(pk, members)),
    ...amongLinks(partitions),
    ...amongRuns(partitions),
    ...amongCvms(partitions),
    ...inStatistics(partitions),
  ];
}

type Partitions = Map<string, Item[]>;

function inJournal(pk: string, items: Item[]): string[] {
  if (!pk.startsWith('journal#')) return [];
  const events = items.filter((item) => String(item['sk']).startsWith('event#')).map(parseStoredEvent);
  const head = parseHead(items.find((item) => item['sk'] === 'head'));
  const latest = items.find((item) => item['sk'] === 'latest');
  return [
    ...(events.every((event, index) => event.number === index + 1) ? [] : [`${pk} has a gap`]),
    ...(head.count === events.length ? [] : [`${pk} has ${events.length} events, but its head counts ${head.count}`]),
    ...(head.last_at === (events.at(-1)?.timestamp ?? '') ? [] : [`${pk}'s head has another time than its last event`]),
    ...events.flatMap((event, index) =>
      event.timestamp < (events[index - 1]?.timestamp ?? '') ? [`${pk} goes back in time at ${event.number}`] : [],
    ),
    ...events.flatMap((event, index) =>
      isChained(event, events[index - 1]) ? [] : [`${pk} has another hash than its content at ${event.number}`],
    ),
    ...(events.length === 0 || Buffer.from(head.last_hash ?? []).equals(events.at(-1)?.hash ?? Buffer.alloc(0))
      ? []
      : [`${pk}'s head has another hash than its last event`]),
    ...(latest && events.some(({ id }) => id === latest['id']) ? [] : [`${pk}'s latest event is not in the journal`]),
  ];
}

function isChained(event: StoredEvent, before: StoredEvent | undefined): boolean {
  return isDeepStrictEqual(publicEvent(event), publicEvent(chainedEvent(event, before?.hash)));
}

const rowsOf = (partitions: Partitions, kind: string) =>
  [...partitions]
    .filter(([pk]) => pk.startsWith(`${kind}#`))
    .flatMap(([pk, items]) =>
      items
        .filter((item) => String(item['sk']).startsWith(listKeys.prefixes.row))
        .map((row) => ({ domain: pk.slice(kind.length + 1), row })),
    );

/** Every link is stored on both sides, connects existing resources, and is counted. */
function amongLinks(partitions: Partitions): string[] {
  const rows = rowsOf(partitions, 'computations');
  const computations = new Map(rows.map(({ row }) => [String(row['id']), row]));
  const assets = new Map(rowsOf(partitions, 'assets').map(({ row }) => [String(row['id']), row]));
  const links = [...partitions].flatMap(([pk, items]) =>
    pk.startsWith('computation#')
      ? items.filter((item) => 'asset_id' in item).map((link) => ({ id: pk.slice('computation#'.length), link }))
      : [],
  );
  const fromComputations: string[] = links.map(({ id, link }) => `${id} ${String(link['asset_id'])}`);
  const fromAssets: string[] = rowsOf(partitions, 'linked').map(({ domain: assetId, row }) => `${String(row['id'])} ${assetId}`);
  const oneSided = [...fromComputations, ...fromAssets].filter(
    (link) => !fromComputations.includes(link) || !fromAssets.includes(link),
  );
  return [
    ...oneSided.map((link) => `the link ${link} is stored on one side only`),
    ...links.flatMap(({ id, link }) => {
      const asset = assets.get(String(link['asset_id']));
      if (!computations.has(id) || !asset) return [`a link of ${id} has no computation or asset`];
      const isSame = asset['file_name'] === link['file_name'] && asset['asset_type'] === link['asset_type'];
      return isSame ? [] : [`a link of ${id} has another name or type than its asset`];
    }),
    ...[...computations].flatMap(([id, row]) => {
      const count = links.filter((each) => each.id === id && each.link['asset_type'] === 'dataset').length;
      return row['dataset_count'] === count ? [] : [`${id} counts ${String(row['dataset_count'])} datasets, has ${count}`];
    }),
  ];
}

/** Every registered CVM is in the list of its domain, once. */
function amongCvms(partitions: Partitions): string[] {
  const listed = rowsOf(partitions, 'cvms').map(({ domain, row }) => `${domain}#${String(row['id'])} ${String(row['sk'])}`);
  const registered = [...partitions].flatMap(([pk, items]) =>
    pk.startsWith('cvm#')
      ? items.map((item) => `${pk.slice('cvm#'.length)} ${listKeys.row(lists.cvms(''), Number(item['listed_as'])).sk}`)
      : [],
  );
  return [...new Set([...listed, ...registered])]
    .filter((cvm) => !listed.includes(cvm) || !registered.includes(cvm))
    .map((cvm) => `the CVM ${cvm} is either not registered or not listed`);
}

/** An active run has a computation and a claim of its CVM. A run that has ended has no claim and no commands. */
function amongRuns(partitions: Partitions): string[] {
  const runs = rowsOf(partitions, 'runs').map(({ row }) => row);
  const active = runs.filter((run) => isActive(String(run['status'])));
  const claimed = cvmKeys.claimShards.flatMap((shard) => partitions.get(shard) ?? []).map((claim) => String(claim['run_id']));
  const commands = [...partitions].filter(([pk]) => /^(pending-)?commands#/.test(pk)).flatMap(([, items]) => items);
  const computations = rowsOf(partitions, 'computations').map(({ row }) => row);
  return [
    ...active.filter((run) => !claimed.includes(String(run['id']))).map((run) => `run ${String(run['id'])} has no claim`),
    ...claimed.filter((id) => !active.some((run) => run['id'] === id)).map((id) => `a claim is left of run ${id}`),
    ...commands
      .filter((command) => !claimed.includes(String(command['run_id'])))
      .map((command) => `a command is left of run ${String(command['run_id'])}`),
    ...computations.flatMap((row) => {
      const own = row['run'] as Item | null;
      const run = runs.find((each) => each['id'] === own?.['id']);
      if (!own) return row['status'] === 'created' ? [] : [`${String(row['id'])} has a status without a run`];
      const differs =
        Object.keys(own).some((name) => !isDeepStrictEqual(own[name], run?.[name])) || own['status'] !== row['status'];
      return differs ? [`${String(row['id'])} tells another story of its run than the run itself`] : [];
    }),
    ...runs.flatMap((run) => {
      const id = String(run['id']);
      const isThere = partitions.get(`runs-of#${String(run['computation_id'])}`)?.some((item) => item['sk'] === `snapshot#${id}`);
      return isThere && numberOf(id) !== undefined ? [] : [`run ${id} has no snapshot`];
    }),
  ];
}

const statusOfEvent = {
  created: 'created',
  started: 'running',
  stop_requested: 'stopping',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

/**
 * Returns what differs in the statistics: each transition is counted once, unless a computation of the domain and with it its events were
 * deleted.
 */
function inStatistics(partitions: Partitions): string[] {
  const domains = Map.groupBy(rowsOf(partitions, 'computations'), ({ domain }) => domain);
  return [...domains].flatMap(([domain, rows]) => {
    const counter = partitions.get(`counter#computations#${domain}`)?.[0];
    if (Number(counter?.['last_number']) !== rows.length) return [];
    const days = daysOf(partitions, domain);
    const events = rows
      .flatMap(({ row }) => partitions.get(`journal#${String(row['id'])}`) ?? [])
      .filter((item) => String(item['sk']).startsWith('event#') && item['originator'] !== 'agent');
    const { states } = rowLists.computations(domain);
    return computationStatuses.flatMap((status) => {
      const counted = days.reduce((sum, counts) => sum + (counts[states[status]] ?? 0), 0);
      const happened = events.filter(
        ({ event_type }) => statusOfEvent[event_type as keyof typeof statusOfEvent] === status,
      ).length;
      return counted === happened ? [] : [`${domain} counts ${counted} times ${status}, its events say ${happened}`];
    });
  });
}

/** The counts of all days: those that are kept in an item, those in the head, and what is not folded yet. */
export function daysOf(partitions: Partitions, domain: string): (readonly number[])[] {
  const keys = keysOf(rowLists.computations(domain).name);
  const { head, unfolded, root } = momentOf(partitions, keys);
  return [...addDays(decodeDays(root.days), [...head.days, ...loggedDays(unfolded)]).values()];
}

const listOf: Record<string, (id: string) => RowList> = {
  computations: rowLists.computations,
  assets: rowLists.assets,
  results: rowLists.results,
  runs: rowLists.runs,
  linked: rowLists.linkedComputations,
  cvms: rowLists.cvms,
};

/** Compares every list with its rows. A list without rows must be empty. */
function inLists(partitions: Partitions): string[] {
  const names = new Set<string>();
  for (const [pk, items] of partitions) {
    const [kind = '', id = ''] = pk.split('#');
    for (const item of items) {
      const key = { pk, sk: String(item['sk']) };
      const name = listOfEntry(key) ?? listOfHead(key) ?? (isRow(item) ? listOf[kind]?.(id).name : undefined);
      if (name !== undefined) names.add(name);
      if (isRow(item) && kind === 'assets') names.add(rowLists.results(id).name);
      if (isRow(item) && kind === 'computations') names.add(rowLists.ownedComputations(id, String(item['owner'])).name);
    }
  }
  // These lists follow the stream of the table: test/shared/todo compares them with a full count.
  const following = [listNames.updated, listNames.waiting].map((kind) => `${kind}#`);
  return [...names]
    .filter((name) => !following.some((kind) => name.startsWith(kind)))
    .flatMap((name) => inList(partitions, name));
}

const isRow = ({ sk }: Item) => String(sk).startsWith(listKeys.prefixes.row);

function inList(partitions: Partitions, name: string): string[] {
  const [kind = '', id = ''] = (name.split('/')[0] ?? '').split('#');
  const isOwned = kind === lists.ownedComputations('').pk.slice(0, -1);
  const list = listOf[isOwned ? 'computations' : kind]?.(id);
  if (!list) return [`${name} is no list`];
  const isMember = (row: Item) =>
    isOwned ? rowLists.ownedComputations(id, String(row['owner'])).name === name : (list.has?.(row) ?? true);
  const rows = (partitions.get(list.rows.pk) ?? []).filter((item) => isRow(item) && isMember(item));
  const meant = rows.map((row) => ({ number: numberOfRow(row), state: stateOfRow(list, row) }));
  const keys = keysOf(name);
  const { head, tree } = momentOf(partitions, keys);
  const isCounted = head.totals.length === 0 || head.totals.join() === countsOf(tree).join();
  return [
    ...compare(name, membersOf(partitions, keys), meant),
    ...(isCounted ? [] : [`${name}: the head has the totals ${head.totals.join()}, its tree ${countsOf(tree).join()}`]),
  ];
}

function compare(what: string, listed: Member[], meant: Member[]): string[] {
  const text = ({ number, state }: Member) => `${number} in state ${state}`;
  const [is, should] = [new Set(listed.map(text)), new Set(meant.map(text))];
  return [
    ...[...is].filter((each) => !should.has(each)).map((each) => `${what}: the list has ${each}, and no row is so`),
    ...[...should].filter((each) => !is.has(each)).map((each) => `${what}: the list lacks ${each}`),
    ...(is.size === listed.length ? [] : [`${what}: the list has a member twice`]),
  ];
}

const find = (partitions: Partitions, { pk, sk }: { pk: string; sk: string }) =>
  partitions.get(pk)?.find((item) => item['sk'] === sk);

function momentOf(partitions: Partitions, keys: ListKeys) {
  const head = parseListHead(find(partitions, keys.head));
  const entries = keys.logs
    .flatMap((log) => partitions.get(log) ?? [])
    .filter(({ sk }) => String(sk).startsWith(keys.prefix))
    .map((item) => parseEntry(keys, item));
  const root = head.root === '' ? emptyRoot : (find(partitions, keys.node(head.root)) as unknown as Root);
  return {
    head,
    unfolded: unfoldedOf(head, entries),
    root,
    tree: treeOf(head, root.edge),
  };
}

/** All members of the tree and of what is not folded yet. */
function membersOf(partitions: Partitions, keys: ListKeys): Member[] {
  const { unfolded, tree } = momentOf(partitions, keys);
  const members = new Map(storedMembers(partitions, tree, keys).map((member) => [member.number, member]));
  for (const { number, before, now } of differencesOf(unfolded)) {
    const found = members.get(number)?.state ?? 0;
    if (found !== before) throw new Error(`${keys.name}: ${number} is in state ${found}, and its change is from ${before}`);
    if (now === 0) members.delete(number);
    else members.set(number, { number, state: now });
  }
  return [...members.values()];
}

function storedMembers(partitions: Partitions, node: TreeNode, keys: ListKeys): Member[] {
  if (isLeaf(node)) return node.parts.map((member) => ({ number: member.number, state: stateOf(member) }));
  return node.parts.flatMap((child) => {
    const item = child.node ? undefined : find(partitions, keys.node(child.id ?? ''));
    const stored = child.node ?? (item && decodeNode(item['node'] as Uint8Array));
    if (!stored) throw new Error(`${keys.name}: the node ${child.id ?? ''} is gone`);
    if (countsOf(stored).join() !== child.counts.join()) throw new Error(`${keys.name}: a node does not have its counts`);
    return storedMembers(partitions, stored, keys);
  });
}
