/**
 * Latin letters, each with the letters and signs, such as Cyrillic ones, that look like it. A name that is spelled
 * with such letters is recognized.
 */
const lookAlikes: Record<string, string> = {
  a: 'аα',
  b: 'ьƅ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еҽ',
  f: 'ƒ',
  g: 'ɡ',
  h: 'һ',
  i: 'іıι1l|ӏ',
  j: 'ј',
  k: 'кκ',
  m: 'мϻ',
  n: 'ոηп',
  o: 'оοօσ0',
  p: 'рρ',
  q: 'ԛ',
  r: 'гꭇ',
  s: 'ѕꜱ',
  t: 'тτ',
  u: 'υսц',
  v: 'ѵν',
  w: 'ԝω',
  x: 'хχ',
  y: 'уүγ',
};
const seenAs = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter] as const)),
);

/** Returns a name as it looks to a reader who overlooks case, blanks, marks, signs and the script of a letter. */
export function seenName(name: string): string {
  const letters = Array.from(name.normalize('NFKD').toLowerCase(), (letter) => seenAs.get(letter) ?? letter);
  return letters.join('').replace(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the first of other names that a reader could take for a name, which is not the same. Undefined if none looks like it. */
export function lookAlikeOf(name: string, others: Iterable<string>): string | undefined {
  const seen = seenName(name);
  for (const other of others) if (other !== name && seenName(other) === seen) return other;
  return undefined;
}

const ascii = /^[ -~]*$/;

/**
 * Returns the first of other names that a name imitates: one that looks like it, and is not the one of the two with letters beyond ASCII.
 * Undefined if there is none.
 */
export const imitated = (name: string, others: Iterable<string>): string | undefined =>
  lookAlikeOf(name, ascii.test(name) ? [...others].filter((other) => ascii.test(other)) : others);
