const distance = new Intl.RelativeTimeFormat('en', { numeric: 'always' });

const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The least distance from now, in seconds, that is told as a length of time. A shorter one is `now`, because clocks differ by more. */
const leastInSeconds = 5;

/**
 * Returns how far a time is from now, in its largest unit, such as `5 minutes ago` or `in 2 days`. Less than five seconds is `now`.
 * @param timestamp RFC 3339
 * @param now in milliseconds since 1970
 */
export function agoText(timestamp: string, now: number): string {
  const seconds = Math.round((Date.parse(timestamp) - now) / 1_000);
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  return unit && Math.abs(seconds) >= leastInSeconds ? distance.format(Math.trunc(seconds / unit[1]), unit[0]) : 'now';
}

/** The age in minutes from which the time of a user's open tasks is told: the service measures it once a minute. */
const oldInMinutes = 3;

/**
 * Says that a user's open tasks may lack changes, if they are right only as of three minutes ago or earlier. Else returns ''.
 * @param asOf `as_of` of the open tasks: RFC 3339
 * @param now in milliseconds since 1970
 */
export function oldText(asOf: string, now: number): string {
  const isOld = now - Date.parse(asOf) >= oldInMinutes * 60_000;
  return isOld ? `This is as of ${agoText(asOf, now)}: what changed since then may be missing.` : '';
}

/** Ends a text with a full stop if it has none: details of broken connections come from Node or the browser. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Returns the line that leads an error about machines or attestation policies to its page of the guide. '' for other errors. */
export const machineHelp = (error: string) =>
  /attest|measurement|polic(?:y|ies)\b(?!\.\w)/i.test(error) ? 'Help: docs/machines.md\n' : '';

/** Divides the hex digits of a hash into groups of eight, which people can compare. */
export function hashGroups(hash: string): string[] {
  return hash.match(/.{1,8}/g) ?? [];
}

/** Quotes a text as one word of a POSIX shell, unless it is one without quotes. */
export function shellWord(text: string): string {
  return /^[\w./-][\w./:@%+,=-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The pattern of texts that spreadsheets take for a formula, also after blanks and with full-width characters. */
const formula = /^[\s\p{C}]*[=+\-@|%\uff0b\uff0d\uff1d\uff20]|^[\t\r\n']/u;

/** Returns rows as CSV (RFC 4180), with a column for each field. A text that a spreadsheet would run as a formula begins with an apostrophe, as does one that had one: no two texts become the same. */
export function csvText(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => names.map((name) => (row as Record<string, unknown>)[name]));
  return [names, ...lines].map((values) => `${values.map(cell).join(',')}\r\n`).join('');
}

function cell(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]|^ | $/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
