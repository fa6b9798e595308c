import { printable } from 'computation-management-formats/printable';
import { csvText, shellWord } from 'computation-management-words';
import { detailsIn } from 'computation-management-formats/bytes';

const segmenter = new Intl.Segmenter();
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

const lineBreakOrColour = new RegExp('(\n|\u001b\\[3\\dm)');

/** Replaces characters that a terminal acts on by blanks, but keeps line breaks and the colours in which commands print. */
export function printableLines(text: string): string {
  return text
    .split(lineBreakOrColour)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join('');
}

/** The characters that a terminal acts on, such as control characters, but for tabs and the ends of lines. */
const acted = /(?!\r\n|[\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Returns a value of JSON so that people can read it: the details of events, base64 in the API, are decoded, and hashes, lists of bytes in
 * a manifest, become hex.
 */
function readable(name: string, value: unknown): unknown {
  if (name === 'hash' && Array.isArray(value)) return Buffer.from(value as number[]).toString('hex');
  const isEncoded = name === 'details' && typeof value === 'string' && value !== '';
  const found = isEncoded ? detailsIn(value) : {};
  return Object.keys(found).length > 0 ? found : value;
}

/** Returns JSON as `cms` prints it: easy to read, and without a character that a terminal acts on. */
export function jsonText(value: unknown, indent?: number): string {
  return withoutActions(JSON.stringify(value, readable, indent));
}

/** Escapes characters that a terminal acts on, as JSON and YAML do in quotes. */
export function withoutActions(quoted: string): string {
  const escaped = (found: string) => found.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return quoted.replace(acted, escaped);
}

/** Returns a value in which no text has control characters or lines of its own. */
export function printableTexts<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, each: unknown) => (typeof each === 'string' ? printable(each) : each)) as Value;
}

/** Returns how many columns a text takes on a terminal. */
export function textWidth(text: string): number {
  let width = 0;
  for (const { segment } of segmenter.segment(text)) width += wide.test(segment) ? 2 : 1;
  return width;
}

/** Truncates a text to a width, with an ellipsis where something is missing. */
export function truncate(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let cut = '';
  let used = 1;
  for (const { segment } of segmenter.segment(text)) {
    used += textWidth(segment);
    if (used > width) break;
    cut += segment;
  }
  return `${cut}…`;
}

/** Breaks a text into lines of a width, at spaces where there are some. */
export function wrapped(text: string, width: number): string[] {
  if (textWidth(text) <= width) return [text];
  const most = Math.max(1, truncate(text, width + 1).length - 1);
  const space = text.lastIndexOf(' ', most);
  const at = space > most / 2 ? space : most;
  return [text.slice(0, at), ...wrapped(text.slice(at).trimStart(), width)];
}

/** Breaks a line where a terminal would. Lines behind the first are indented: what others have named never begins one. */
export function hanging(line: string, columns = 110): string {
  return wrapped(line, Math.max(20, columns - 6)).join(`\n${' '.repeat(6)}`);
}

/**
 * Returns rows as CSV, with a column for each field of the JSON. In a file or a pipe each text is exact, but for an
 * apostrophe before one that begins as a formula or with an apostrophe. On a terminal, characters that the
 * terminal acts on are escaped as in JSON.
 */
export function csvOf(rows: readonly unknown[], isTerminal: boolean): string {
  const text = csvText(JSON.parse(jsonText(rows)) as object[]);
  return isTerminal ? withoutActions(text) : text;
}

/** Quotes a path for a shell, unless it needs no quotes, with `~` for the home of the user. */
export function shellPath(path: string, home: string): string {
  return path.startsWith(`${home}/`) ? `~/${shellWord(path.slice(home.length + 1))}` : shellWord(path);
}

/**
 * Returns the command line that was typed, without the token and passwords in it, because an error that names the command line may end up
 * in a log.
 */
export function commandLine(args: readonly string[]): string {
  const words = args.map((arg, index) => {
    if (args[index - 1] === '--token') return 'TOKEN';
    return arg.startsWith('--token=') ? '--token=TOKEN' : shellWord(arg.replace(/\/\/[^/]*@/, '//'));
  });
  return ['cms', ...words].join(' ');
}
