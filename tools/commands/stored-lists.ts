import { keysOf, listOfEntry, listOfHead, logPrefix } from 'computation-management-counted-list/keys';
import { listKeys, listNames, lists } from '../../shared/table/keys.ts';
import { type RowList, rowLists } from '../../shared/table/row-lists.ts';
import { scan } from '../../shared/table/scan.ts';
import { type Table, pagesOf, queryPartition } from '../../shared/table/table.ts';

/**
 * The lists by the first part of their names: each contains all rows of its kind in a domain, or all computations that an asset is
 * linked to.
 */
const listsOfKinds: Record<string, (id: string) => RowList> = {
  computations: rowLists.computations,
  runs: rowLists.runs,
  assets: rowLists.assets,
  results: rowLists.results,
  linked: rowLists.linkedComputations,
  cvms: rowLists.cvms,
};

/** Returns the lists of a domain, with the lists of its present and earlier owners of computations. */
export async function listsOfDomain(table: Table, domain: string): Promise<RowList[]> {
  const whole = [rowLists.computations, rowLists.runs, rowLists.assets, rowLists.results, rowLists.cvms].map((of) => of(domain));
  return [...whole, ...(await ownedLists(table, domain))];
}

async function ownedLists(table: Table, domain: string): Promise<RowList[]> {
  const owned = new Map<string, RowList>();
  const shared = keysOf(lists.ownedComputations(domain).pk);
  for (const partition of [...shared.logs, shared.index]) {
    for (const { pk, sk } of await queryPartition(table, partition, { attributes: ['pk', 'sk'] })) {
      const key = { pk: String(pk), sk: String(sk) };
      const name = listOfEntry(key) ?? listOfHead(key);
      // Without a row of its owner, it must be empty.
      if (name !== undefined) owned.set(name, { ...rowLists.computations(domain), name, owner: '' });
    }
  }
  for await (const rows of pagesOf(table, lists.computations(domain).pk)) {
    for (const { owner } of rows) {
      const list = rowLists.ownedComputations(domain, String(owner));
      owned.set(list.name, list);
    }
  }
  return [...owned.values()];
}

const traces = {
  FilterExpression: 'begins_with(sk, :row) OR contains(sk, :head) OR begins_with(pk, :log)',
  ExpressionAttributeValues: { ':row': listKeys.prefixes.row, ':head': keysOf('').head.sk, ':log': logPrefix },
};

/**
 * Returns every list that has rows, logged changes, or a head (the item that a fold of the log replaces). Reads the whole table.
 */
export async function allLists(table: Table): Promise<RowList[]> {
  const names = new Set<string>();
  for await (const items of scan(table, { filter: traces, attributes: ['pk', 'sk'] })) {
    for (const item of items) {
      const [pk, sk] = [String(item['pk']), String(item['sk'])];
      const name = listOfEntry({ pk, sk }) ?? listOfHead({ pk, sk }) ?? (sk.startsWith(listKeys.prefixes.row) ? pk : undefined);
      if (name !== undefined) names.add(name);
    }
  }
  const found = new Map<string, RowList>();
  for (const name of [...names].sort()) {
    const [kind = '', id = ''] = name.split('#');
    const list = listsOfKinds[kind]?.(id);
    if (list) found.set(name, list);
    if (kind !== listNames.computations) continue;
    for (const owned of await ownedLists(table, id)) found.set(owned.name, owned);
  }
  return [...found.values()];
}
