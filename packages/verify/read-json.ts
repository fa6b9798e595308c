import { canonicalJson } from 'computation-management-formats/digests';
import { printable } from 'computation-management-formats/printable';
import { quoted } from './finding.ts';

/**
 * Parses a JSON text that has a canonical form and in which every object has each name once. With a repeated name, two readers
 * could see two different values in the same text.
 * @param what names the text in the error
 * @throws UnreadableError
 */
export function parseJson(text: string, what: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UnreadableError(`${what} is not JSON: ${quoted(messageOf(error))}`);
  }
  const name = repeatedName(text);
  if (name !== undefined) throw new UnreadableError(`${what} has an object with two values named ${quoted(name)}.`);
  try {
    canonicalJson({ value });
  } catch (error) {
    throw new UnreadableError(`${what} has no canonical form: ${quoted(messageOf(error))}`);
  }
  return value;
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * Returns a name that an object has twice.
 * @param text well-formed JSON
 */
export function repeatedName(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, name] of text.matchAll(/[{}]|("(?:[^"\\]|\\.)*")\s*:|"(?:[^"\\]|\\.)*"/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (name !== undefined) {
      const decoded = JSON.parse(name) as string;
      const names = open.at(-1);
      if (names?.has(decoded)) return decoded;
      names?.add(decoded);
    }
  }
  return undefined;
}

/** A file that cannot be checked at all. The message names it and what is wrong, perhaps with a part of the file. */
export class UnreadableError extends Error {
  override readonly name = 'UnreadableError';

  constructor(message: string) {
    super(printable(message));
  }
}
