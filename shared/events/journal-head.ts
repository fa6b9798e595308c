import * as v from 'valibot';
import { journalKeys } from '../table/keys.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import type { Action } from '../table/action.ts';
import { StaleReadError } from '../table/transaction.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';
import { schemaVersion } from '../table/schema-version.ts';
import { noMarks, segmentMarksSchema } from './segment-marks.ts';

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
  const Item = { ...journalKeys.head(computationId), ...schemaVersion('journal head'), ...next };
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
