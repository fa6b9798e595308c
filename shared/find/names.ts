import { createHash } from 'node:crypto';
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
  /** The owner of a computation, or the creator of an asset. Null for a CVM. */
  owner: string | null;
  checksum: string | null;
}

/** The largest number of characters of a text in the index of names, in code points. */
const longestText = 64;
/** The largest number of words of one name that a search matches, and that are in the index of names. */
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

const wordsOf = (whole: string) => [...new Set((whole.match(word) ?? []).slice(0, mostWords).map(firstOf))];
const wordsAsked = (text: string) => [...new Set(text.match(word))];

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url');

/**
 * Lists the entries of the index of names for a row. A computation or an asset has `exact#`, the hash of its whole name and the
 * hash of its owner; `word#` and each of its first 8 words that begins no other of them; `checksum#` and its checksum. A CVM has
 * `name#` and its identifier.
 */
export function placesOf({ kind, name, owner, checksum }: Omit<Findable, 'id'>): string[] {
  const whole = comparable(name);
  if (kind === 'cvm') return [places.name(whole)];
  const words = wordsOf(whole);
  const found = words.filter((each) => !words.some((other) => other !== each && other.startsWith(each))).map(places.word);
  return [places.exact(sha256(whole), sha256(owner ?? '')), ...found, ...(checksum === null ? [] : [places.checksum(checksum)])];
}

/** A searched text, and the limits of what matches it. */
export interface Question {
  query: string;
  /** True if only a row matches whose name, identifier or checksum is the text. Default: false. */
  exact?: boolean | undefined;
  /** The user who must own the computation or have created the asset. Default: any user. */
  owner?: string | undefined;
}

/**
 * Lists the beginnings of the entries in the index of names that rows matching a text have, one list for each kind of match. A row
 * that matches in this way is under every beginning of the list. Only the 8 longest words of the text are looked up. Empty for CVMs
 * if the text has less than 4 characters.
 */
export function placesToLook({ query, exact = false, owner }: Question, kind: FindKind): string[][] {
  const text = comparable(query);
  if (kind === 'cvm') {
    if (owner !== undefined || Array.from(text).length < leastOfCvm) return [];
    const place = places.name(firstOf(text));
    return [[exact ? findKeys.whole(place) : place]];
  }
  const words = exact ? [] : wordsAsked(text).toSorted((one, other) => other.length - one.length);
  return [
    [places.exact(sha256(text), owner === undefined ? '' : sha256(owner))],
    ...(words.length === 0 ? [] : [words.slice(0, mostWords).map((each) => places.word(firstOf(each)))]),
    ...(kind === 'asset' && /^[0-9a-f]{64}$/.test(text) ? [[places.checksum(text)]] : []),
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
 * Tells how well a row matches a searched text. Rank 0: the text is its identifier; 1: the text is its name or checksum; 2: the text
 * begins its name or identifier; 3: each word of the text begins one of the first 8 words of its name. Undefined if the row does
 * not match.
 */
export function matchOf(
  { query, exact = false, owner: wanted }: Question,
  { kind, id, name, owner, checksum }: Findable,
): { rank: number; by: MatchedBy } | undefined {
  const text = comparable(query);
  const whole = comparable(name);
  const by = kind === 'cvm' ? 'id' : 'name';
  if (wanted !== undefined && wanted !== owner) return undefined;
  if (kind === 'cvm' && Array.from(text).length < leastOfCvm) return undefined;
  if (whole === text) return { rank: kind === 'cvm' ? 0 : 1, by };
  const isOfId = kind !== 'cvm' && numberIn(query) !== undefined && id.startsWith(query.toLowerCase());
  if (isOfId && id.length === query.length) return { rank: 0, by: 'id' };
  if (checksum !== null && checksum === text) return { rank: 1, by: 'checksum' };
  if (exact) return undefined;
  if (isOfId) return { rank: 2, by: 'id' };
  if (kind === 'cvm') return whole.startsWith(text) ? { rank: 2, by } : undefined;
  const [asked, words] = [wordsAsked(text), wordsOf(whole)];
  const isOfWords = asked.length > 0 && asked.every((each) => words.some((one) => one.startsWith(firstOf(each))));
  return isOfWords ? { rank: whole.startsWith(text) ? 2 : 3, by } : undefined;
}
