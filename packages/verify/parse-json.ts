import { canonicalJson } from 'computation-management-formats/canonical-json';
import { UnreadableError } from './unreadable-error.ts';

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
    throw new UnreadableError(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const name = repeatedName(text);
  if (name !== undefined) throw new UnreadableError(`${what} has an object with two values named ${JSON.stringify(name)}.`);
  try {
    canonicalJson({ value });
  } catch (error) {
    throw new UnreadableError(`${what} has no canonical form: ${error instanceof Error ? error.message : String(error)}`);
  }
  return value;
}

/** @param text well-formed JSON */
function repeatedName(text: string): string | undefined {
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
