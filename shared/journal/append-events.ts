import { laterOf } from 'computation-management-formats/timestamps';
import { type Action, StaleReadError } from '../table/transaction.ts';
import { journalKeys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import {
  type Event,
  type NewEvent,
  chainedEvent,
  eventsPerAppend,
  type JournalHead,
  markSegment,
  publicEvent,
  storedEvent,
  type StoredEvent,
  storedSizeInBytes,
} from './journal.ts';
import { readTail } from './read-journal.ts';
import { segmentItem } from './segment.ts';
import { schemaAttribute } from '../table/stored.ts';
import { hasAttributes, isAbsent } from '../table/writes.ts';

const eventsPerSegment = 256;
const bytesPerSegment = 128 * 1024;

/**
 * The computation to whose journal events are appended. Readers of the table's stream find both fields in each event
 * (docs/events.md).
 */
export interface JournalOwner {
  domain: string;
  computationId: string;
}

/**
 * The error of an append to a journal if another append came first. The state that the events describe may still be as it was
 * read.
 */
export class JournalMovedError extends StaleReadError {
  override readonly name = 'JournalMovedError';
}

/** An append to a journal: the actions for the transaction, the events as the API shows them, and the journal's head after it. */
export interface Append {
  actions: Action[];
  events: Event[];
  head: JournalHead;
}

/**
 * Returns the actions that append 1 to 50 events to a journal, at most 53. Texts that events are filtered by must not exceed 255
 * bytes, so that an index segment stays below 400 KB. The transaction fails with JournalMovedError if another append came first.
 * It must also assert that the computation exists: the head of a deleted journal looks empty.
 */
export async function appendEvents(
  table: Table,
  owner: JournalOwner,
  head: JournalHead,
  events: NewEvent[],
  now: string,
): Promise<Append> {
  if (events.length < 1 || events.length > eventsPerAppend) {
    throw new TypeError(`An append takes 1 to ${eventsPerAppend} events, not ${events.length}.`);
  }
  const { computationId } = owner;
  const timestamp = laterOf(head.last_at, now);
  const stored: StoredEvent[] = [];
  for (const event of events) {
    const previous = stored.at(-1)?.hash ?? head.last_hash;
    stored.push(chainedEvent(storedEvent(event, head.count + stored.length + 1, timestamp), previous));
  }
  const latest = stored.findLast((_event, index) => events[index]?.lifecycle);
  const seal = isSealDue(head) ? await sealTail(table, computationId, head) : { actions: [], head };
  const next: JournalHead = {
    ...seal.head,
    count: head.count + stored.length,
    last_at: timestamp,
    last_hash: stored.at(-1)?.hash,
    unsealed_bytes: stored.reduce((bytes, event) => bytes + storedSizeInBytes(event), seal.head.unsealed_bytes),
  };
  return {
    actions: [
      ...stored.map((event) => putEvent(owner, event)),
      replaceHead(computationId, head, next),
      ...(latest ? [{ put: { Item: { ...journalKeys.latest(computationId), ...latest } } }] : []),
      ...seal.actions,
    ],
    events: stored.map(publicEvent),
    head: next,
  };
}

/**
 * Returns whether so many events of a journal are in no index segment yet that the next append must store an index segment of
 * them.
 */
function isSealDue(head: JournalHead): boolean {
  return head.count - head.sealed >= eventsPerSegment || head.unsealed_bytes >= bytesPerSegment;
}

function putEvent({ domain, computationId }: JournalOwner, event: StoredEvent): Action {
  return {
    put: {
      Item: { ...journalKeys.event(computationId, event.number), ...event, domain, computation_id: computationId },
      ...isAbsent,
    },
    otherwise: JournalMovedError,
  };
}

function replaceHead(computationId: string, read: JournalHead, next: JournalHead): Action {
  const Item = { ...journalKeys.head(computationId), ...schemaAttribute, ...next };
  const condition = read.count === 0 ? isAbsent : hasAttributes({ count: read.count });
  return { put: { Item, ...condition }, otherwise: JournalMovedError };
}

async function sealTail(table: Table, computationId: string, head: JournalHead) {
  const tail = await readTail({ table, computationId, head });
  const { item, bytes } = segmentItem(computationId, tail);
  return {
    actions: [{ put: { Item: item } }],
    head: {
      ...head,
      sealed: head.count,
      sealed_at: head.last_at,
      unsealed_bytes: 0,
      marks: markSegment(head.marks, { at: head.last_at, number: head.count }, bytes),
    },
  };
}
