import { quotedName } from 'computation-management-formats/quoted-name';

/** A text in parts, of which some differ from another text that is shown beside it. */
export type MarkedText = { text: string; differs: boolean }[];

/** The least share of a text that two texts have in common for their other letters to be marked. Below it, the whole text is marked. */
const leastInCommon = 0.5;

/**
 * Quotes two values of others as `quotedName` does, and marks the characters in which they differ: all but their common beginning and
 * end. Marks the whole of both where less than half is in common. Notes about letters beyond ASCII follow the quotes.
 */
export function markedPair(one: string, other: string): [MarkedText, MarkedText] {
  const quoted = [one, other].map(quotedName);
  const [bodies, notes] = [
    quoted.map((text) => Array.from(text.slice(0, text.lastIndexOf('"') + 1))),
    quoted.map((text) => text.slice(text.lastIndexOf('"') + 1)),
  ];
  const [a = [], b = []] = bodies;
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < least - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const isWhole = start + end < Math.max(a.length, b.length) * leastInCommon;
  const marked = (body: string[], note = ''): MarkedText => {
    const [from, to] = isWhole ? [0, body.length] : [start, body.length - end];
    return [
      { text: body.slice(0, from).join(''), differs: false },
      { text: body.slice(from, to).join(''), differs: true },
      { text: body.slice(to).join('') + note, differs: false },
    ].filter(({ text }) => text !== '');
  };
  return [marked(a, notes[0]), marked(b, notes[1])];
}
