import { durationOf } from 'computation-management-formats/timestamps';
import { UsageError } from './usage-error.ts';

/** @returns seconds @throws UsageError that names the option */
export function parseDuration(option: string, text: string): number {
  const seconds = durationOf(text);
  if (Number.isNaN(seconds)) throw new UsageError(`${option} is ${JSON.stringify(text)}; expected 90s, 30m, 12h or 7d.`);
  return seconds;
}
