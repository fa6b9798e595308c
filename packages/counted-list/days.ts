import { ByteReader, ByteWriter, type Counts, emptyCounts } from './node.ts';
import type { Unfolded } from './log.ts';

/** How many members entered each state, by the day since 1970-01-01. */
export type Days = ReadonlyMap<number, Counts>;

const dayInMilliseconds = 24 * 60 * 60 * 1000;
/** The newest days change with most folds. They are only in the head. */
const daysInHead = 2;
/** Older days are forgotten. */
const mostDays = 400;

/** Returns the days since 1970-01-01, UTC. */
export function dayOf(milliseconds: number): number {
  return Math.floor(milliseconds / dayInMilliseconds);
}

/** Returns the days with those of the steps. */
export function addSteps(days: Days, unfolded: readonly Unfolded[]): Map<number, Counts> {
  const counted = new Map(days);
  for (const { day, now } of unfolded.flatMap(({ steps }) => steps)) {
    if (day === undefined) continue;
    const counts = [...(counted.get(day) ?? emptyCounts())];
    counts[now] = (counts[now] ?? 0) + 1;
    counted.set(day, counts);
  }
  return counted;
}

export function addDays(a: Days, b: Days): Map<number, Counts> {
  const sum = new Map(a);
  for (const [day, counts] of b) {
    sum.set(
      day,
      counts.map((count, state) => count + (sum.get(day)?.[state] ?? 0)),
    );
  }
  return sum;
}

/** Divides days into those that stay in the head and those that move to the item of old days. */
export function divideDays(days: Days, now: number): { recent: Days; old: Days } {
  const isOld = ([day]: [number, Counts]) => day <= dayOf(now) - daysInHead;
  return { recent: new Map([...days].filter((each) => !isOld(each))), old: new Map([...days].filter(isOld)) };
}

export function encodeDays(days: Days): Uint8Array {
  const writer = new ByteWriter();
  const newest = [...days].sort(([a], [b]) => a - b).slice(-mostDays);
  for (const [day, counts] of newest) {
    writer.integer(day);
    writer.counts(counts);
  }
  return writer.bytes();
}

export function decodeDays(bytes: Uint8Array | undefined): Map<number, Counts> {
  const reader = new ByteReader(bytes ?? new Uint8Array());
  const days = new Map<number, Counts>();
  while (!reader.isAtEnd()) days.set(reader.integer(), reader.counts());
  return days;
}
