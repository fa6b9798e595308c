import { styleText } from 'node:util';
import { printable } from 'computation-management-formats/printable';
import type { Terminal } from './terminal.ts';
import { textWidth, truncate } from './text.ts';

/** A column of a table that `cms` prints. */
export interface Column<Row> {
  title: string;
  value: (row: Row) => string;
  /** True if the column may be cut where the terminal is too narrow. */
  cuts?: boolean;
  colour?: (text: string, row: Row) => string;
}

/** The width and the colours of the terminal on which a table is printed. No column is cut if `columns` is undefined. */
type Paper = Pick<Terminal, 'columns' | 'colours'>;
const plain: Paper = { columns: undefined, colours: false };

const gap = 2;
const narrowest = 8;

/** Formats rows as a table for the terminal. Cuts the columns that may be cut so that the table fits the width. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], paper: Paper = plain): string {
  const { columns: width = Infinity, colours } = paper;
  const cells = rows.map((row) => columns.map(({ value }) => printable(value(row))));
  const widths = columns.map(({ title }, index) =>
    Math.max(textWidth(title), ...cells.map((line) => textWidth(line[index] ?? ''))),
  );
  narrow(widths, columns, width);
  const line = (texts: string[], paint: (text: string, index: number) => string) =>
    texts
      .map((text, index) => {
        const cut = truncate(text, widths[index] ?? 0);
        const padding = ' '.repeat((widths[index] ?? 0) - textWidth(cut));
        return paint(cut, index) + padding;
      })
      .join(' '.repeat(gap))
      .trimEnd();
  const titles = columns.map(({ title }) => title.toUpperCase());
  return [
    line(titles, (text) => text),
    ...rows.map((row, at) =>
      line(cells[at] ?? [], (text, index) => (colours ? columns[index]?.colour?.(text, row) : undefined) ?? text),
    ),
  ]
    .map((text) => `${text}\n`)
    .join('');
}

/** Narrows columns that may be cut until the table fits the width, always the widest one. */
function narrow<Row>(widths: number[], columns: readonly Column<Row>[], width: number): void {
  const total = () => widths.reduce((sum, each) => sum + each, gap * (widths.length - 1));
  while (total() > width) {
    const candidates = widths.map((each, index) => (columns[index]?.cuts === true ? each : 0));
    const widest = Math.max(...candidates);
    if (widest <= narrowest) return;
    widths[candidates.indexOf(widest)] = widest - 1;
  }
}

/** Formats names and values as lines. Leaves out names with an empty value. A list takes a line for each entry. */
export function details(
  entries: readonly (readonly [name: string, value: string | readonly string[] | null | undefined])[],
): string {
  const shown = entries.flatMap(([name, value]) => {
    const values = (typeof value === 'string' ? [value] : (value ?? [])).filter((text) => text !== '');
    return values.length === 0 ? [] : [{ name, values }];
  });
  const width = Math.max(0, ...shown.map(({ name }) => name.length)) + 2;
  return shown
    .flatMap(({ name, values }) => values.map((text, index) => `${(index === 0 ? name : '').padEnd(width)}${printable(text)}\n`))
    .join('');
}

/** The colours in which the terminal shows statuses, each with the statuses that have it. A status that is not listed has no colour. */
const statuses: [colour: Parameters<typeof styleText>[0], texts: string[]][] = [
  ['green', ['completed', 'ready', 'connected']],
  ['blue', ['running']],
  ['yellow', ['stopping', 'cancelled', 'pending']],
  ['red', ['failed', 'disconnected', 'spent']],
];

/** Colours a status: green for good, red for bad, yellow for what waits. */
export function statusColour(text: string): string {
  const [colour] = statuses.find(([, texts]) => texts.includes(text)) ?? [];
  return colour === undefined ? text : styleText(colour, text, { validateStream: false });
}
