const units = ['kB', 'MB', 'GB', 'TB'];

/** Formats a number of bytes with three digits, such as `15.2 kB`. */
export function fileSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${units[power - 1] ?? ''}`;
}
