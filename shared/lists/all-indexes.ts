import { indexKeys, listKeys } from '../table/keys.ts';
import { scanPage } from '../table/scan.ts';
import { queryPrefix, type Table } from '../table/table.ts';
import { listsOfIndex, type IndexedList } from './indexed-list.ts';
import { readLog } from './unfolded-entries.ts';
import { readHead } from './head.ts';

const itemsPerPage = 5_000;
const noScope = { scope: '', logShards: 1 };
const indexPrefix = indexKeys.partition(noScope);
const traces = {
  FilterExpression: 'begins_with(sk, :row) OR (sk = :head AND begins_with(pk, :index)) OR begins_with(pk, :log)',
  ExpressionAttributeValues: {
    ':row': listKeys.prefixes.row,
    ':head': indexKeys.head(noScope).sk,
    ':index': indexPrefix,
    ':log': indexKeys.logPrefix,
  },
};

/** Returns the lists of every index that has rows, a head or logged changes. Reads the whole table. */
export async function allIndexes(table: Table): Promise<[IndexedList, ...IndexedList[]][]> {
  const scopes = new Set<string>();
  let after;
  do {
    const page = await scanPage(table, { after, limit: itemsPerPage, filter: traces, attributes: ['pk', 'sk'] });
    for (const { pk } of page.items) scopes.add(scopeOf(String(pk)));
    after = page.next;
  } while (after);
  return [...scopes].sort().flatMap((scope) => {
    const lists = listsOfIndex(scope);
    return lists ? [lists] : [];
  });
}

/** Returns whether the index of these lists has rows, a head or logged changes. */
export async function isStored(table: Table, lists: readonly [IndexedList, ...IndexedList[]]): Promise<boolean> {
  const { index } = lists[0];
  if ((await readHead(table, index)).version > 0 || (await readLog(table, index)).length > 0) return true;
  const first = ({ rows }: IndexedList) => queryPrefix(table, rows.pk, listKeys.prefixes.row, { limit: 1 });
  return (await Promise.all(lists.map(first))).flat().length > 0;
}

/** Returns the scope of the index that a partition belongs to: a list's, the index's own or one of its log. */
function scopeOf(pk: string): string {
  if (pk.startsWith(indexPrefix)) return pk.slice(indexPrefix.length);
  if (pk.startsWith(indexKeys.logPrefix)) return pk.slice(indexKeys.logPrefix.length, pk.lastIndexOf('#'));
  const [kind, ...id] = pk.split('#');
  return [kind === 'runs' ? 'computations' : kind, ...id].join('#'); // the runs of a domain are with its computations
}
