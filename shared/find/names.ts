import { findKeys } from '../table/keys.ts';

const { places } = findKeys;

export const findKinds = ['computation', 'asset', 'cvm'] as const;
export type FindKind = (typeof findKinds)[number];

export interface Findable {
  kind: FindKind;
  id: string;
  /** Of a CVM, its identifier. */
  name: string;
  checksum: string | null;
}

/** In code points. */
const longestText = 64;
const mostWords = 8;
const leastOfCvm = 4;
/** Up to here an identifier has its number in the list, and some of what is random. */
const leastOfId = 18;

const word = /[\p{L}\p{M}\p{Nd}]+/gu;

/** Makes texts equal that people see as the same. A sigma is written in another way where a word ends, which a prefix cannot know. */
export function comparable(text: string): string {
  return text.normalize('NFKC').toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');
}

const firstOf = (text: string) => Array.from(text).slice(0, longestText).join('');

const wordsOf = (name: string) => (name.match(word) ?? []).slice(0, mostWords);

/** `name#` and a name, `word#` and a word of it, `checksum#` and a checksum. */
export function placesOf({ kind, name, checksum }: Omit<Findable, 'id'>): string[] {
  const whole = comparable(name);
  const found = [places.name(firstOf(whole))];
  // What the name begins with is found by the name.
  const words = kind === 'cvm' ? [] : [...new Set(wordsOf(whole).map(firstOf))].filter((each) => !whole.startsWith(each));
  found.push(...words.map(places.word));
  if (checksum !== null) found.push(places.checksum(checksum));
  return found;
}

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

/** Of the identifier that begins with a text. Undefined if the text is too short, or begins none. */
export function numberIn(query: string): number | undefined {
  const text = query.toLowerCase();
  const isPart = text.length >= leastOfId && text.replace(/[0-9a-f]/g, '0') === uuid.slice(0, text.length);
  return isPart ? Number.parseInt(text.slice(0, 8) + text.slice(9, 13), 16) : undefined;
}

export type MatchedBy = 'name' | 'id' | 'checksum';

/** Rank 0: exactly, 1: as a beginning, 2: as the beginning of a word. */
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
