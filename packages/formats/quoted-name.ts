/**
 * Matches the characters of a name that must be escaped: quotes, backslashes, and characters that are invisible or blank, reorder
 * text, pile up, or would widen a text so that its end stands on a line of its own.
 */
const escaped = /["\\\p{C}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}|^ | $|(?<= ) |(?<=\p{M}{2})\p{M}/gu;
const beyondAscii = /[^ -~]/gu;
const mostNamed = 3;

const codeOf = (letter: string) => (letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
const escape = (letter: string) => (/["\\]/.test(letter) ? `\\${letter}` : `\\u{${codeOf(letter)}}`);

/**
 * Quotes a name of somebody else, so that it cannot be taken for a label, another name or several names. Characters that cannot
 * be seen as themselves are escaped. Letters beyond ASCII, which may look like other letters, are named after the quoted text.
 */
export function quotedName(text: string): string {
  const quoted = quotedText(text);
  return `${quoted}${lettersNote(quoted)}`;
}

/** Quotes a text of somebody else, such as the reason of a refusal, as `quotedName` does, but without the note about its letters. */
export function quotedText(text: string): string {
  const shown = text
    .replace(escaped, escape)
    .replace(beyondAscii, (letter) => (letter.normalize('NFKC') === letter ? letter : escape(letter)));
  return `"${shown}"`;
}

/**
 * Returns a note about the letters of a name beyond ASCII, which may look like other letters, to stand after the name, such as
 * ` (not ASCII: U+0430)`. Names at most three of them. Returns an empty text if there are none.
 */
export function lettersNote(name: string): string {
  const letters = [...new Set(name.match(beyondAscii))];
  if (letters.length === 0) return '';
  const named = letters.slice(0, mostNamed).map((letter) => `U+${codeOf(letter)}`);
  const more = letters.length > mostNamed ? ` and ${letters.length - mostNamed} more` : '';
  return ` (not ASCII: ${named.join(', ')}${more})`;
}

const wordsOfOurs = /^(algorithm|dataset|nothing|result|consumer|owner|creator|manifest|you)$/i;

/**
 * Quotes a name as `quotedName` does, but returns a name of one plain word as it is, unless the word is one that the service uses
 * itself, such as `dataset`.
 */
export const plainName = (text: string): string =>
  /^[\w.@+-]+$/.test(text) && !wordsOfOurs.test(text) ? text : quotedName(text);

/**
 * Returns the identifier of a user so that no two users look alike: as it is if it is one plain word of ASCII, and otherwise in quotes, with
 * an escape such as `\u{0430}` for each character that is no letter, digit or sign of ASCII. The text is never cut. Every table and list that shows users takes it from here.
 */
export function userText(user: string): string {
  if (/^[ -~]*$/.test(user)) return plainName(user);
  return `"${user.replace(/["\\]|[^!-~]/gu, (letter) => `\\u{${codeOf(letter)}}`)}"`;
}

/** Returns identifiers of users, each as `userText` does, as a list. Empty without users. */
export const usersText = (users: readonly string[]): string => users.map(userText).join(', ');

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

/** Returns the first of some names that differs from the given one, but looks the same to a reader. Undefined if none does. */
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
