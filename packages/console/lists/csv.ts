/** What spreadsheets take for the beginning of a formula, also after blanks and in full width. */
const formula = /^[\s\u00a0]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;

/** Returns rows as CSV (RFC 4180), with a column for each field. Texts that a spreadsheet would run as a formula begin with an apostrophe. */
export function csvOf(rows: readonly object[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => names.map((name) => (row as Record<string, unknown>)[name]));
  return [names, ...lines].map((values) => `${values.map(cell).join(',')}\r\n`).join('');
}

function cell(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
  return `"${(formula.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
