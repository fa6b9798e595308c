import { shownText } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { findKeys } from '../table/keys.ts';
import { type Table, getItems, queryPrefix } from '../table/table.ts';
import { findableOf, type NamedRow, rowKeyOf } from './index-names.ts';
import { comparable, findKinds, type FindKind, matchOf, numberIn, placesToLook } from './names.ts';

/** The largest number of entries of the index of names that a search reads for each way in which a text can match. */
const mostCandidates = 50;

export const matchSchema = v.pipe(
  v.object({
    kind: v.pipe(v.picklist(findKinds), v.description('What was found.')),
    id: v.pipe(shownText(64), v.description('Its identifier.')),
    name: v.pipe(shownText(255), v.description('Its name: the file name of an asset, the identifier of a CVM.')),
    matched: v.pipe(v.picklist(['name', 'id', 'checksum']), v.description('What the text matches.')),
  }),
  v.title('Match'),
  v.description('A computation, an asset or a CVM that was found.'),
);
export type Match = v.InferOutput<typeof matchSchema>;

/** A search for a text, in one kind of things or in all. */
interface FindRequest {
  domain: string;
  query: string;
  /** The kind of things to search: computations, assets or CVMs. Default: all kinds. */
  kind?: FindKind | undefined;
  limit: number;
}

/**
 * Finds computations, assets and CVMs by a text, best matches first: by the beginning of the name, of a word in it or of the
 * identifier, or by a checksum. Two round trips. Reads at most 50 entries of the index for each way to match, and their rows.
 */
export async function find(table: Table, { domain, query, kind, limit }: FindRequest): Promise<Match[]> {
  const kinds = kind === undefined ? findKinds : [kind];
  const found = await Promise.all(kinds.map((each) => candidates(table, { domain, query, kind: each })));
  const rows = [...new Map(found.flat().map((row) => [`${row.kind} ${row.number}`, row])).values()];
  const items = await getItems(table, rows.map(rowKeyOf));
  const matches = rows.flatMap((row, index) => {
    const item = items[index];
    const findable = item && findableOf(row.kind, item);
    const match = findable && matchOf(query, findable);
    return match ? [{ ...row, ...findable, ...match, createdAt: String(item['created_at']) }] : [];
  });
  const order = new Intl.Collator('en').compare;
  return matches
    .sort(
      (a, b) =>
        a.rank - b.rank ||
        order(comparable(a.name), comparable(b.name)) ||
        (a.kind === b.kind ? b.number - a.number : order(b.createdAt, a.createdAt)),
    )
    .slice(0, limit)
    .map(({ kind, id, name, by }) => ({ kind, id, name, matched: by }));
}

/** Reads from the index of names which rows of one kind may match a text. */
async function candidates(
  table: Table,
  { domain, query, kind }: { domain: string; query: string; kind: FindKind },
): Promise<NamedRow[]> {
  const looks = placesToLook(query, kind).map((place) =>
    queryPrefix(table, findKeys.partition(domain, kind), place, { limit: mostCandidates, attributes: ['sk'] }),
  );
  const numbers = (await Promise.all(looks)).flat().map(({ sk }) => findKeys.partsOf(String(sk)).number);
  const ofId = kind === 'cvm' ? undefined : numberIn(query);
  return [...numbers, ...(ofId === undefined ? [] : [ofId])].map((number) => ({ domain, kind, number }));
}
