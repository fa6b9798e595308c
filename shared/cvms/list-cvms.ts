import { indexedLists } from '../lists/indexed-list.ts';
import { readPage } from '../lists/read-page.ts';
import { withGatewayLeases } from '../runs/gateway-lease.ts';
import { listKeys, lists } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import type { Cvm } from './cvm.ts';
import { describeCvm, keysOfCvm, parseCvm } from './read-cvm.ts';

/**
 * Reads a page of the domain's registered CVMs, newest first, and the exact total. A round trip more than readPage, or two if a
 * gateway holds one of them, and three read units for each CVM: the list changes when a CVM is registered or removed, and its
 * presence more often.
 */
export async function listCvms(
  table: Table,
  domain: string,
  { limit, offset, now }: { limit: number; offset: number; now: string },
): Promise<{ cvms: Cvm[]; total: number }> {
  const { rows, total } = await readPage(table, indexedLists.cvms(domain), { limit, offset });
  const references = rows.map((row) => ({ domain, cvmId: String(row['id']) }));
  const items = await getItems(table, references.flatMap(keysOfCvm));
  const read = references.map((reference) => parseCvm(reference, items.splice(0, 3)));
  const presences = await withGatewayLeases(
    table,
    read.map(({ presence }) => presence),
  );
  const cvms = read.flatMap(({ cvm, claim }, index): Cvm[] => {
    const isSame = cvm && listKeys.row(lists.cvms(domain), cvm.listed_as).sk === rows[index]?.['sk'];
    if (!isSame) return []; // removed since it was listed, and perhaps registered again
    return [describeCvm(cvm, { claim, presence: presences[index] ?? {} }, now)];
  });
  return { cvms, total };
}
