import { markPartitions } from 'computation-management-counted-list/keys';
import { inParallel } from '../runtime/in-parallel.ts';
import {
  answerKeys,
  approvalIdKeys,
  approvedKeys,
  assetKeys,
  computationKeys,
  contentCheckKeys,
  cvmKeys,
  findKeys,
  journalKeys,
  logKeys,
  listKeys,
  lists,
  mailKeys,
  purgeKeys,
  releaseKeys,
  recheckKeys,
  runKeys,
  todoKeys,
  type AnyKey,
} from '../table/keys.ts';
import { openList, rowLists } from '../table/row-lists.ts';
import { type Table, pagesOf, queryPartitions, queryPrefix, type Item } from '../table/table.ts';
import { deleteAny } from '../table/writes.ts';
import { findKinds } from '../find/index.ts';
import { ownerOfContent } from '../rows/content-store.ts';

/**
 * The keys of items to delete, a page at a time. Items that only another item names come before it, so that an interrupted walk
 * can be repeated.
 */
type Keys = AsyncGenerator<AnyKey[], void>;

/** The number of items to delete in a page. An item has up to 400 KB, and a query reads all of it. */
const itemsPerPage = 100;

/**
 * Yields the keys of all items that belong to a computation, apart from its row: definition, keys, approvals, journal, logs,
 * runs, and the notes of its runs at assets. What waits for users in it is removed by the follower of the table's stream.
 */
export async function* belongingsOfComputation(table: Table, id: string): Keys {
  const uses = await queryPrefix(table, runKeys.partition(id), runKeys.prefixes.use);
  yield* inPages(uses.map((use) => assetKeys.use(String(use['asset_id']), String(use['run_id']))));
  for (const partition of [computationKeys, approvedKeys, journalKeys, logKeys, runKeys])
    yield* keysIn(table, partition.partition(id));
}

/** Yields the keys of all items that belong to an asset, apart from its row, its content and its links in computations. */
export async function* belongingsOfAsset(table: Table, id: string): Keys {
  const list = rowLists.linkedComputations(id);
  const own = [assetKeys.uses(id), assetKeys.contentReads(id).pk, assetKeys.key(id).pk];
  const partitions = [list.rows.pk, ...openList(table, list).partitions, ...own];
  for (const pk of partitions) yield* keysIn(table, pk);
}

/**
 * Calls `visit` with the keys of everything that a domain has in the table, except for the items that keep the domain closed, and
 * messages between gateways, which expire.
 * @param visit called for several pages at the same time
 */
export async function walkDomain(table: Table, domain: string, visit: (keys: AnyKey[]) => Promise<void>): Promise<void> {
  const visitAll = async (keys: Keys) => {
    for await (const page of keys) await visit(page);
  };
  const visitRows = async (list: { pk: string }, belongings: (row: Item) => Keys[]) => {
    for await (const rows of pagesOf(table, list.pk, {}, itemsPerPage)) {
      await inParallel(rows, async (row) => {
        for (const keys of belongings(row)) await visitAll(keys);
      });
      if (rows.length > 0) await visit(rows.map(keyOf));
    }
  };
  const ofComputation = ({ id }: Item) => [belongingsOfComputation(table, String(id))];
  const marks = await queryPartitions(table, markPartitions);
  const marksOf = ({ name }: { name: string }) =>
    inPages(marks.filter(({ sk }) => sk === name || String(sk).startsWith(`${name}/`)).map(keyOf));
  const ofAsset = ({ id }: Item) => [belongingsOfAsset(table, String(id)), marksOf(rowLists.linkedComputations(String(id)))];
  const ofCvm = (cvmId: string) => {
    const partitions = [cvmKeys.cvm(domain, cvmId).pk, cvmKeys.commands(domain, cvmId), cvmKeys.agent(domain, cvmId).pk];
    return partitions.map((pk) => keysIn(table, pk));
  };

  for (const purge of (await queryPartitions(table, purgeKeys.shards)).filter((item) => item['domain'] === domain)) {
    const isOfAsset = String(purge['sk']).startsWith(purgeKeys.prefixes.asset);
    for (const keys of isOfAsset ? ofAsset(purge) : ofComputation(purge)) await visitAll(keys);
    await visit([keyOf(purge)]);
  }
  await visitRows(lists.computations(domain), ofComputation);
  await visitRows(lists.assets(domain), ofAsset);
  await visitRows(lists.runs(domain), ({ cvm_id }) => ofCvm(String(cvm_id)));
  await visitRows(lists.cvms(domain), ({ id }) => ofCvm(String(id)));
  await visitAll(keysIn(table, cvmKeys.publicKey(domain, '').pk));

  const { computations, assets, runs, cvms } = lists;
  for (const list of [computations, assets, runs, cvms]) await visitAll(keysIn(table, listKeys.counter(list(domain)).pk));
  const owned = { ...rowLists.computations(domain), name: lists.ownedComputations(domain).pk };
  const waiting = { ...rowLists.computations(domain), name: lists.waiting(domain).pk };
  for (const list of [
    owned,
    waiting,
    rowLists.updated(domain),
    ...[rowLists.computations, rowLists.runs, rowLists.assets, rowLists.results, rowLists.cvms].map((of) => of(domain)),
  ]) {
    for (const pk of openList(table, list).partitions) await visitAll(keysIn(table, pk));
    await visitAll(marksOf(list));
  }
  await visitAll(keysIn(table, releaseKeys.partition(domain)));
  for (const pk of [mailKeys.partition(domain), ...todoKeys.partitions(domain)]) await visitAll(keysIn(table, pk));
  const news = await queryPartitions(table, mailKeys.newsShards);
  await visitAll(inPages(news.filter(({ domain_id }) => domain_id === domain).map(keyOf)));
  const rechecks = await queryPartitions(table, recheckKeys.shards);
  await visitAll(inPages(rechecks.filter((recheck) => recheck['domain'] === domain).map(keyOf)));
  await visitAll(keysIn(table, lists.updated(domain).pk));
  for (const kind of findKinds) await visitAll(keysIn(table, findKeys.partition(domain, kind)));
  for (const pk of [...answerKeys.partitions(domain), ...approvalIdKeys.partitions(domain)]) await visitAll(keysIn(table, pk));
  for (const shard of [...cvmKeys.claimShards, ...cvmKeys.pendingShards]) {
    await visitAll(inPages((await queryPrefix(table, shard, cvmKeys.claimPrefix(domain))).map(keyOf)));
  }
  const checks = await queryPartitions(table, contentCheckKeys.shards);
  await visitAll(inPages(checks.filter((check) => ownerOfContent(String(check['content_key']))?.domain === domain).map(keyOf)));
}

/** Deletes the items with the given keys, and yields after each full page so that other work can take its turn. */
export async function* deleteInParts(table: Table, keys: Keys): AsyncGenerator<undefined, void> {
  for await (const page of keys) {
    await deleteAny(table, page);
    if (page.length === itemsPerPage) yield;
  }
}

async function* keysIn(table: Table, pk: string): Keys {
  for await (const items of pagesOf(table, pk, { attributes: ['pk', 'sk'] }, itemsPerPage))
    if (items.length > 0) yield items.map(keyOf);
}

async function* inPages(keys: AnyKey[]): Keys {
  for (let start = 0; start < keys.length; start += itemsPerPage) yield keys.slice(start, start + itemsPerPage);
}

function keyOf({ pk, sk }: Item): AnyKey {
  return { pk: String(pk), sk: String(sk) };
}
