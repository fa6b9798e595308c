const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a number of bytes with its unit. They stay on one line. */
export function sizeText(bytes: number): string {
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** power;
  if (bytes === 1) return '1\u00a0byte';
  const digits = power === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)}\u00a0${units[power] ?? ''}`;
}
