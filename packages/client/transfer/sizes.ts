const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/**
 * Formats a number of bytes as people read it, such as `14.9 KiB`. Null stands for a size that is not known, as of content that
 * the agent fetches.
 */
export function sizeText(bytes: number | null): string {
  if (bytes === null) return 'unknown size';
  if (bytes === 1) return '1 byte';
  let power = 0;
  while (power < units.length - 1 && Math.round(bytes / 1_024 ** power) >= 1_024) power += 1;
  const value = bytes / 1_024 ** power;
  const digits = power === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)} ${units[power] ?? ''}`;
}

/** The size in bytes of the largest file that storage takes: 5 GiB. */
export const largestUploadInBytes = 5 * 1_024 ** 3;
