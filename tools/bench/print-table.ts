/** Prints objects as the rows of a table. All objects must have the same fields, whose names are the headings. */
export function printTable(rows: object[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const cells = rows.map((each) =>
    Object.values(each).map((value) => (typeof value === 'number' ? value.toLocaleString('en') : String(value))),
  );
  const widths = columns.map((column, index) => Math.max(column.length, ...cells.map((line) => line[index]?.length ?? 0)));
  const print = (line: string[]) => console.log(line.map((cell, index) => cell.padStart(widths[index] ?? 0)).join('  '));
  print(columns);
  print(widths.map((width) => '-'.repeat(width)));
  cells.forEach(print);
}
