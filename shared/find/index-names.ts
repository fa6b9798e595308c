import { isDeepStrictEqual } from 'node:util';
import { resultType } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { failureOf } from '../runtime/errors.ts';
import { type AnyKey, findKeys, type Key, listKeys, lists, rowAt, type RowOfDomain } from '../table/keys.ts';
import type { StreamBatch } from '../table/fold-lists.ts';
import { type Table, getItems, type Item, pagesOf, getItemsOf } from '../table/table.ts';
import { batched, numberOfRow } from '../table/row-lists.ts';
import { deleteItemIf, deleteItems, deleteItemsOf, hasAttributes, isAbsent, putItemIf, putItems } from '../table/writes.ts';
import { type Findable, type FindKind, placesOf } from './names.ts';
import { parseStored } from '../table/stored.ts';

/** A row that can be found by its name: a computation, an asset or a CVM, by its number in the list of its domain. */
export interface NamedRow extends RowOfDomain {
  kind: FindKind;
}

const listOf = { computation: lists.computations, asset: lists.assets, cvm: lists.cvms };

export const rowKeyOf = ({ domain, kind, number }: NamedRow) => listKeys.row(listOf[kind](domain), number);

const storedRow = v.object({
  id: v.string(),
  ...v.entriesFromList(['name', 'file_name', 'owner', 'created_by'], v.optional(v.string())),
  checksum: v.optional(v.nullable(v.string()), null),
});

/** Reads from the row of a computation, an asset or a CVM the properties by which a search finds it. @param item the row */
export function findableOf(kind: FindKind, item: Item): Findable {
  const { id, name, file_name, owner, created_by, checksum } = parseStored(storedRow, item, `name of a ${kind}`);
  return { kind, id, name: name ?? file_name ?? id, owner: owner ?? created_by ?? null, checksum };
}

/** Reads the properties under which the index of names has a row. Undefined without a row, and for the result of a run, which it leaves out. */
function indexedOf(kind: FindKind, item: Item | undefined): Findable | undefined {
  return item && item['asset_type'] !== resultType ? findableOf(kind, item) : undefined;
}

/**
 * The item that keeps the name, the owner and the checksum under which the index of names has a row. It is written after the entries of the
 * index, so that a repeat finds what a crash has left.
 */
const storedKnown = v.object({
  known_name: v.string(),
  known_owner: v.nullable(v.string()),
  known_checksum: v.nullable(v.string()),
});
type Known = v.InferOutput<typeof storedKnown>;

/** The number of rows that the index of names takes together: one call reads the rows, another one what the index has of them. */
const rowsTogether = 50;

/**
 * Brings the index of names up to date for rows that have changed. Safe to repeat. A row that does not fit keeps no other from
 * being indexed; a call that fails does. Costs a read unit for each row and one for what the index has of it. If these differ,
 * also a write unit for each entry that is added or removed, and one for the name.
 * @throws the first failure, in the end
 */
export async function indexRows(table: Table, rows: readonly NamedRow[]): Promise<void> {
  const distinct = [...new Map(rows.map((row) => [`${row.domain} ${row.kind} ${row.number}`, row])).values()];
  const failures: unknown[] = [];
  const noteFailure = (row: NamedRow) => (error: unknown) => void failures.push(failureOf(JSON.stringify(row), error));
  const read = batched((keys: AnyKey[]) => getItems(table, keys));
  const put = batched((items: (Item & Key)[]) => putItems(table, items).then(() => items));
  for (let start = 0; start < distinct.length; start += rowsTogether) {
    const together = distinct.slice(start, start + rowsTogether);
    await Promise.all(together.map((row) => indexRow(table, row, read, put).catch(noteFailure(row))));
  }
  if (failures.length > 0) throw failures[0];
}

/**
 * Brings the index of names up to date for the rows in a batch of changes of the table.
 * @returns the number of rows that can be found by name
 */
export async function indexChangedNames(table: Table, { Records }: StreamBatch): Promise<number> {
  const rows = Records.flatMap(({ dynamodb: { Keys } }) => rowAt({ pk: Keys.pk.S, sk: Keys.sk.S }) ?? []);
  const named = rows.filter((row): row is NamedRow => row.kind !== 'run');
  await indexRows(table, named);
  return named.length;
}

type Ask<Question, Answer> = (question: Question) => Promise<Answer>;

/**
 * Brings the index of names up to date for one row: adds its missing entries, then removes those of earlier names, and looks
 * again if another call has changed them meanwhile.
 */
async function indexRow(table: Table, row: NamedRow, read: Ask<AnyKey, Item | undefined>, put: Ask<Item & Key, Item>) {
  const { domain, kind, number } = row;
  const key = findKeys.known(domain, kind, number);
  const keyOf = (place: string) => ({ ...findKeys.place(domain, kind, place, number) });
  const placed = new Set<string>();
  for (;;) {
    const [item, known] = await Promise.all([read(rowKeyOf(row)), read(key)]);
    const before = known && parseStored(storedKnown, known, 'indexed name');
    const found = indexedOf(kind, item);
    const after = found && knownOf(found);
    const present = before
      ? placesOf({ kind, name: before.known_name, owner: before.known_owner, checksum: before.known_checksum })
      : [];
    const wanted = found ? placesOf(found) : [];
    for (const place of present) placed.add(place);
    const surplus = [...placed].filter((place) => !wanted.includes(place));
    const isSame = isDeepStrictEqual(before, after);
    if (isSame && surplus.length === 0) return;
    await Promise.all(wanted.filter((place) => !present.includes(place)).map((place) => put(keyOf(place))));
    await deleteItems(table, surplus.map(keyOf));
    if (isSame || (await replace(table, key, before, after))) return;
    for (const place of wanted) placed.add(place); // another call may have read a later name
  }
}

const knownOf = ({ name, owner, checksum }: Findable): Known => ({
  known_name: name,
  known_owner: owner,
  known_checksum: checksum,
});

/** Replaces what the index of names keeps of a row. @returns false if another call has replaced it since it was read */
async function replace(table: Table, key: Key, before: Known | undefined, after: Known | undefined): Promise<boolean> {
  const condition = before ? hasAttributes(before) : isAbsent;
  return after ? await putItemIf(table, { ...key, ...after }, condition) : await deleteItemIf(table, key, condition);
}

/**
 * Writes the index of names of all rows of a kind in a domain again, and removes entries that belong to no row.
 * @returns the number of rows
 */
export async function rebuildNames(table: Table, { domain, kind }: Pick<NamedRow, 'domain' | 'kind'>): Promise<number> {
  const placeOf = (number: number, place: string) => ({ ...findKeys.place(domain, kind, place, number) });
  let count = 0;
  for await (const rows of pagesOf(table, listOf[kind](domain).pk)) {
    count += rows.length;
    const items = rows.flatMap((row): (Item & Key)[] => {
      const number = numberOfRow(row);
      const findable = indexedOf(kind, row);
      if (!findable) return [];
      const known = { ...findKeys.known(domain, kind, number), ...knownOf(findable) };
      return [...placesOf(findable).map((place) => placeOf(number, place)), known];
    });
    await putItems(table, items);
  }
  for await (const items of pagesOf(table, findKeys.partition(domain, kind))) {
    const parts = items.map(({ sk }) => findKeys.partsOf(String(sk))).filter(({ place }) => place !== undefined);
    const rows = await getItemsOf(table, parts, ({ number }) => rowKeyOf({ domain, kind, number }));
    const others = parts.filter(({ place = '' }, index) => {
      const findable = indexedOf(kind, rows[index]);
      return !findable || !placesOf(findable).includes(place);
    });
    await deleteItemsOf(table, others, ({ place = '', number }) => placeOf(number, place));
  }
  return count;
}
