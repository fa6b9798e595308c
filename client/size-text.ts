const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Returns a number of bytes as people read it, such as `14.9 KiB`. */
export function sizeText(bytes: number): string {
  if (bytes === 1) return '1 byte';
  const power = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1_024 ** power;
  const digits = power === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[power] ?? ''}`;
}
