import { findKeys } from '../table/keys.ts';

const { places } = findKeys;

export const findKinds = ['computation', 'asset', 'cvm'] as const;
export type FindKind = (typeof findKinds)[number];

/** The properties of a computation, an asset or a CVM that a search looks at. */
export interface Findable {
  kind: FindKind;
  id: string;
  /** The name of the row: the name of a computation, the file name of an asset, or the identifier of a CVM. */
  name: string;
  checksum: string | null;
}

/** The largest number of characters of a text in the index of names, in code points. */
const longestText = 64;
/** The largest number of words of one name that are in the index of names. */
const mostWords = 8;
/** The smallest number of characters of a search that find a CVM. */
const leastOfCvm = 4;
/**
 * The smallest number of characters of an identifier by which a search finds its row. So many characters contain the number in
 * the list, with which an identifier begins, and some of the random part.
 */
const leastOfId = 18;

const word = /[\p{L}\p{M}\p{Nd}]+/gu;

/**
 * Returns a form of a text in which names that people see as the same are equal. Replaces the sigma at the end of a word, because
 * a prefix cannot know where a word ends.
 */
export function comparable(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

const firstOf = (text: string) => Array.from(text).slice(0, longestText).join('');

const wordsOf = (name: string) => (name.match(word) ?? []).slice(0, mostWords);

/**
 * Lists the entries of the index of names for a row: `name#` and its name, `word#` and each word of the name, `checksum#` and its
 * checksum.
 */
export function placesOf({ kind, name, checksum }: Omit<Findable, 'id'>): string[] {
  const whole = comparable(name);
  const found = [places.name(firstOf(whole))];
  // What the name begins with is found by the name.
  const words = kind === 'cvm' ? [] : [...new Set(wordsOf(whole).map(firstOf))].filter((each) => !whole.startsWith(each));
  found.push(...words.map(places.word));
  if (checksum !== null) found.push(places.checksum(checksum));
  return found;
}

/**
 * Lists the beginnings of the entries in the index of names that rows matching a text have. Empty for CVMs if the text has less
 * than 4 characters.
 */
export function placesToLook(query: string, kind: FindKind): string[] {
  const text = comparable(query);
  if (kind === 'cvm') return Array.from(text).length < leastOfCvm ? [] : [places.name(firstOf(text))];
  return [
    places.name(firstOf(text)),
    ...(text.replaceAll(word, '') === '' ? [places.word(firstOf(text))] : []),
    ...(kind === 'asset' && /^[0-9a-f]{64}$/.test(text) ? [places.checksum(text)] : []),
  ];
}

const uuid = '00000000-0000-0000-0000-000000000000';

/**
 * Returns the number in its list that the beginning of an identifier contains. Undefined if the text has less than 18 characters,
 * or begins no identifier.
 */
export function numberIn(query: string): number | undefined {
  const text = query.toLowerCase();
  const isPart = text.length >= leastOfId && text.replace(/[0-9a-f]/g, '0') === uuid.slice(0, text.length);
  return isPart ? Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16) : undefined;
}

/** The property of a row in which a searched text was found. */
export type MatchedBy = 'name' | 'id' | 'checksum';

/**
 * Tells how well a row matches a searched text. Rank 0: the text is its name, identifier or checksum; 1: the text begins its name
 * or identifier; 2: the text begins a word of its name. Undefined if the row does not match.
 */
export function matchOf(query: string, { kind, id, name, checksum }: Findable): { rank: number; by: MatchedBy } | undefined {
  const text = comparable(query);
  const whole = comparable(name);
  const by = kind === 'cvm' ? 'id' : 'name';
  if (kind === 'cvm' && Array.from(text).length < leastOfCvm) return undefined;
  if (whole === text) return { rank: 0, by };
  const isOfId = kind !== 'cvm' && numberIn(query) !== undefined && id.startsWith(query.toLowerCase());
  if (isOfId && id.length === query.length) return { rank: 0, by: 'id' };
  if (checksum !== null && checksum === text) return { rank: 0, by: 'checksum' };
  if (whole.startsWith(text)) return { rank: 1, by };
  if (isOfId) return { rank: 1, by: 'id' };
  return kind !== 'cvm' && wordsOf(whole).some((each) => each.startsWith(text)) ? { rank: 2, by } : undefined;
}
