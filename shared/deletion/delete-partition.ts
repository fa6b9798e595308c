import { keyOfItem } from '../table/keys.ts';
import { queryPartition, type Table } from '../table/table.ts';
import { deleteItems } from '../table/writes.ts';
import { doAllParts, type InParts } from './parts.ts';

/** An item has up to 400 KB, and a query reads all of it. */
const itemsPerQuery = 100;

/** Deletes every item of a partition. Safe to repeat and to interrupt. @throws TypeError if there are rows with a single writer */
export async function* partitionInParts(table: Table, pk: string): InParts {
  for (;;) {
    const items = await queryPartition(table, pk, { limit: itemsPerQuery, attributes: ['pk', 'sk'] });
    await deleteItems(table, items.map(keyOfItem));
    if (items.length < itemsPerQuery) return;
    yield;
  }
}

/** As partitionInParts, all at once. */
export async function deletePartition(table: Table, pk: string): Promise<void> {
  await doAllParts(partitionInParts(table, pk));
}
