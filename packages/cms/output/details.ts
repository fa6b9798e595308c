import { printable } from '../../../shared/printable.ts';

/** Formats names and values as lines. Leaves out what is empty. A list takes a line for each entry. */
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
