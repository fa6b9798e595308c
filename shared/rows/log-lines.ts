import * as v from 'valibot';
import type { OfRun } from './run.ts';
import { logKeys, runKeys } from '../table/keys.ts';
import { type Table, tableDefinition, queryBetween, queryPrefix } from '../table/table.ts';
import { putItem } from '../table/writes.ts';
import { parseStored, storedBytes, deflated, inflated } from '../table/stored.ts';

/** A line of an agent's log. `time` is RFC 3339, UTC, milliseconds: the agent's time if it gives one. */
export interface LogLine {
  time: string;
  level: string;
  message: string;
}

const daysKept = 30;
const secondsKept = daysKept * 24 * 60 * 60;

const storedChunk = v.object({
  /** The lines of a chunk of a run's log as JSON, compressed with raw deflate. */
  lines: storedBytes,
  size_in_bytes: v.number(),
});

/** Returns the size of log lines as JSON, in bytes. */
export const sizeOfLines = (lines: readonly LogLine[]) => Buffer.byteLength(JSON.stringify(lines));

/** A part of a run's log that is stored as one item. */
export interface StoredLines {
  lines: readonly LogLine[];
  size_in_bytes: number;
  /** The time at which the lines of a log are stored, in milliseconds since 1970. */
  at: number;
  /** A text that distinguishes parts of a log that are stored at the same time. */
  part: string;
}

/** Stores lines of a run's log as one item, behind those that were stored before. Costs about 1 write unit for 8 KB of text. */
export async function storeLines(
  table: Table,
  { computation_id, run_id }: OfRun,
  { lines, size_in_bytes, at, part }: StoredLines,
): Promise<void> {
  await putItem(table, {
    ...logKeys.chunk(computation_id, run_id, at, part),
    lines: deflated(JSON.stringify(lines)),
    size_in_bytes,
    [tableDefinition.timeToLive]: Math.floor(at / 1_000) + secondsKept,
  });
}

/** Reads whether anybody may read the log of a run, and how many bytes of it are stored. */
export async function readLogState(table: Table, run: OfRun): Promise<{ isShared: boolean; bytes: number }> {
  const { computation_id, run_id } = run;
  const { pk, sk } = runKeys.snapshot(computation_id, run_id);
  const [snapshot] = await queryPrefix(table, pk, sk, { limit: 1, attributes: ['log_access'] });
  if (snapshot?.['log_access'] !== 'parties') return { isShared: false, bytes: 0 };
  const partition = logKeys.partition(computation_id);
  const chunks = await queryPrefix(table, partition, logKeys.prefix(run_id), { attributes: ['size_in_bytes'] });
  return { isShared: true, bytes: chunks.reduce((sum, chunk) => sum + Number(chunk['size_in_bytes']), 0) };
}

/** The position in the stored log of a run at which reading goes on: behind the first `line` lines of a chunk. */
export interface LogPosition {
  /** The sort key of the chunk of a run's log at which reading goes on. Empty: reading begins with the first chunk. */
  chunk: string;
  line: number;
}

/**
 * Reads chunks of a run's log, the oldest first, without those that have expired.
 * @returns chunks from the position on. They begin with the chunk of the position if it is still stored
 */
export async function readChunks(
  table: Table,
  { computation_id, run_id }: OfRun,
  { chunk }: LogPosition,
  { limit, now }: { limit: number; now: string },
): Promise<{ chunk: string; lines: LogLine[] }[]> {
  const keptSince = Math.floor(Date.parse(now) / 1_000) - secondsKept + 1; // DynamoDB deletes older chunks days later
  const first = logKeys.chunk(computation_id, run_id, keptSince * 1_000, '');
  const begin = { ...first, sk: chunk > first.sk ? chunk : first.sk };
  const items = await queryBetween(table, begin, { ...first, sk: logKeys.end(run_id) }, { limit });
  return items.map((item) => {
    const { lines } = parseStored(storedChunk, item, 'part of a log');
    return { chunk: String(item['sk']), lines: JSON.parse(inflated(lines)) as LogLine[] };
  });
}
