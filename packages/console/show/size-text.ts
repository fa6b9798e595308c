import { sizeText as textOf } from 'computation-management-client';

/** Returns a number of bytes with its unit. They stay on one line. */
export function sizeText(bytes: number): string {
  return textOf(bytes).replace(' ', '\u00a0');
}
