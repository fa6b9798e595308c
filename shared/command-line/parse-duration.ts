import { UsageError } from './usage-error.ts';

const secondsPer: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Parses `90s`, `30m`, `12h` or `7d`. @returns seconds @throws UsageError that names the option */
export function parseDuration(option: string, text: string): number {
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const factor = secondsPer[unit ?? ''];
  if (factor === undefined) throw new UsageError(`${option} is ${JSON.stringify(text)}; expected 90s, 30m, 12h or 7d.`);
  return Number(amount) * factor;
}
