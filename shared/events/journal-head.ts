import * as v from 'valibot';
import type { Action } from '../table/action.ts';
import { journalKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { schemaAttribute } from '../table/schema-version.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { StaleReadError } from '../table/transaction.ts';

export const segmentMarksSchema = v.object({
  /** The last event of each stretch, oldest first. */
  ends: v.array(v.object({ at: v.string(), number: v.number() })),
  strideInBytes: v.number(),
  bytesSinceLast: v.number(),
});

/** Divides the index segments into stretches of about the same size, which are read in parallel. */
export type SegmentMarks = v.InferOutput<typeof segmentMarksSchema>;

/** A stretch of this size stays below 1 MB, the most that one query reads. */
const firstStrideInBytes = 768 * 1024;
const maxMarks = 16;

export const noMarks: SegmentMarks = { ends: [], strideInBytes: firstStrideInBytes, bytesSinceLast: 0 };

/** Returns the marks after one more segment. If there are too many, removes every second one and doubles the stride. */
export function markSegment(marks: SegmentMarks, end: { at: string; number: number }, bytes: number): SegmentMarks {
  const bytesSinceLast = marks.bytesSinceLast + bytes;
  if (bytesSinceLast < marks.strideInBytes) return { ...marks, bytesSinceLast };
  const ends = [...marks.ends, end];
  if (ends.length < maxMarks) return { ...marks, ends, bytesSinceLast: 0 };
  return { ends: ends.filter((_end, index) => index % 2 === 1), strideInBytes: marks.strideInBytes * 2, bytesSinceLast: 0 };
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const journalHeadSchema = v.object({
  /** Events are numbered 1 to `count`. */
  count,
  /** Timestamp of the last event; empty if there is none. */
  last_at: v.string(),
  /**
   * The hash of event `count`. Absent if there is none, or if an earlier version of the service appended that event: it replaces
   * the head without this attribute, so the chain begins again with the next event (docs/adr/0012-evidence.md).
   */
  last_hash: v.optional(storedBytes),
  /** Index segments cover exactly the events 1 to `sealed`. */
  sealed: count,
  /** Timestamp of event `sealed`; empty if there is none. */
  sealed_at: v.string(),
  unsealed_bytes: count,
  marks: segmentMarksSchema,
});

export type JournalHead = v.InferOutput<typeof journalHeadSchema>;

const emptyHead: JournalHead = {
  count: 0,
  last_at: '',
  sealed: 0,
  sealed_at: '',
  unsealed_bytes: 0,
  marks: noMarks,
};

/** Parses the item read at `journalKeys.head`. Without an item, the journal is empty. @throws Error if the item is invalid */
export function parseHead(item: Item | undefined): JournalHead {
  return item === undefined ? emptyHead : parseStored(journalHeadSchema, item, 'journal head');
}

/** Reads the journal's head, strongly consistent. */
export async function readHead(table: Table, computationId: string): Promise<JournalHead> {
  return parseHead(await getItem(table, journalKeys.head(computationId)));
}

/** Returns the action that replaces the head. It fails with StaleReadError if another append came first. */
export function replaceHead(computationId: string, read: JournalHead, next: JournalHead): Action {
  const Item = { ...journalKeys.head(computationId), ...schemaAttribute, ...next };
  const condition =
    read.count === 0
      ? { ConditionExpression: 'attribute_not_exists(pk)' }
      : {
          ConditionExpression: '#count = :count',
          ExpressionAttributeNames: { '#count': 'count' },
          ExpressionAttributeValues: { ':count': read.count },
        };
  return { put: { Item, ...condition }, otherwise: new StaleReadError() };
}
