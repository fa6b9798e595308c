/**
 * Whether JSON text nests arrays and objects deeper than `most`. A scan without recursion that skips strings, so that 5 MB of
 * brackets cost milliseconds where a parser takes seconds. The text need not be well-formed.
 */
export function isNestedDeeperThan(most: number, json: string): boolean {
  let depth = 0;
  for (let index = 0; index < json.length; index++) {
    switch (json.charCodeAt(index)) {
      case openBracket:
      case openBrace:
        depth += 1;
        if (depth > most) return true;
        break;
      case closeBracket:
      case closeBrace:
        depth -= 1;
        break;
      case quote:
        index = endOfString(json, index);
        break;
    }
  }
  return false;
}

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Where the string that begins at `start` ends; the end of the text where it does not. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return json.length;
}
