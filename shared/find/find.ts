import { described, namedObject, orNull, shownText } from 'computation-management-formats/fields';
import * as v from 'valibot';
import { findKeys } from '../table/keys.ts';
import { getItems, queryPrefix, type Table } from '../table/table.ts';
import { findableOf, rowKeyOf } from './index-names.ts';
import { comparable, findKinds, type FindKind, matchOf, numberIn, placesToLook, type Question } from './names.ts';

/** The largest number of rows that a search reads for each kind of match. */
const mostCandidates = 50;

export const matchSchema = namedObject('Match', 'A computation, an asset or a CVM that was found.', {
  kind: described(v.picklist(findKinds), 'What was found.'),
  id: shownText(64, 'Its identifier.'),
  name: shownText(255, 'Its name: the file name of an asset, the identifier of a CVM.'),
  owner: orNull(shownText(255), 'The owner of a computation, or the creator of an asset. null for a CVM.'),
  matched: described(v.picklist(['name', 'id', 'checksum']), 'What the text matches.'),
});
export type Match = v.InferOutput<typeof matchSchema>;

/** A search for a text, in one kind of things or in all. */
interface FindRequest extends Question {
  domain: string;
  /** The kind of things to search: computations, assets or CVMs. Default: all kinds. */
  kind?: FindKind | undefined;
  limit: number;
}

/** The result of a search. */
interface Found {
  /** The matches, the best first. */
  matches: Match[];
  /** True if there may be further matches: more candidates than were read, or more matches than the limit. */
  truncated: boolean;
}

/**
 * Finds computations, assets and CVMs by a text, best matches first: by their name, the beginnings of its words or the identifier,
 * or by a checksum. Two round trips, whose cost does not depend on the size of the domain. Reads at most 50 rows for each kind of
 * match.
 */
export async function find(table: Table, { domain, kind, limit, ...question }: FindRequest): Promise<Found> {
  const kinds = kind === undefined ? findKinds : [kind];
  const looks = kinds.flatMap((each) => placesToLook(question, each).map((places) => ({ domain, kind: each, places })));
  const found = await Promise.all(looks.map((look) => candidates(table, look)));
  const number = numberIn(question.query);
  const ofId = number === undefined ? [] : kinds.flatMap((each) => (each === 'cvm' ? [] : [{ domain, kind: each, number }]));
  const all = [...found.flatMap(({ rows }) => rows), ...ofId];
  const rows = [...new Map(all.map((row) => [`${row.kind} ${row.number}`, row])).values()];
  const items = await getItems(table, rows.map(rowKeyOf));
  const matches = rows.flatMap((row, index) => {
    const item = items[index];
    const findable = item && findableOf(row.kind, item);
    const match = findable && matchOf(question, findable);
    return match ? [{ ...row, ...findable, ...match, createdAt: String(item['created_at']) }] : [];
  });
  const order = new Intl.Collator('en').compare;
  matches.sort(
    (a, b) =>
      a.rank - b.rank ||
      order(comparable(a.name), comparable(b.name)) ||
      (a.kind === b.kind ? b.number - a.number : order(b.createdAt, a.createdAt)),
  );
  return {
    matches: matches.slice(0, limit).map(({ kind, id, name, owner, by }) => ({ kind, id, name, owner, matched: by })),
    truncated: matches.length > limit || found.some(({ truncated }) => truncated), // defence
  };
}

/**
 * Reads from the index of names which rows of one kind may match a text in one way: those of the shortest of the lists of rows
 * that must all have them.
 */
async function candidates(table: Table, { domain, kind, places }: { domain: string; kind: FindKind; places: readonly string[] }) {
  const partition = findKeys.partition(domain, kind);
  const options = { limit: mostCandidates + 1, attributes: ['sk'] };
  const lists = await Promise.all(places.map((place) => queryPrefix(table, partition, place, options)));
  const [shortest = []] = lists.sort((one, other) => one.length - other.length);
  const rows = shortest.slice(0, mostCandidates).map(({ sk }) => ({ domain, kind, number: findKeys.partsOf(String(sk)).number }));
  return { rows, truncated: shortest.length > mostCandidates };
}
