import { numberedId } from 'computation-management-formats/identifiers';
import { listKeys, lists, type Key } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';
import { putItems } from '../../shared/table/writes.ts';

/** More than the deletion of an asset has room for in its transaction. */
const manyLinks = 91;

/** Gives an asset many links to computations that do not exist, as if they had just been deleted. Only one side is stored. */
export async function addHalfLinks(table: Table, assetId: string): Promise<Key[]> {
  const list = lists.linkedComputations(assetId);
  const numbers = Array.from({ length: manyLinks }, (_, index) => 1_000_000 + index);
  await putItems(
    table,
    numbers.map((number) => ({ ...listKeys.row(list, number), id: numberedId(number) })),
  );
  return numbers.map((number) => listKeys.row(list, number));
}
