import { hashOfEvent } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { journalKeys } from '../table/keys.ts';
import { type Table, getItem, type Item } from '../table/table.ts';
import type { Event, NewEvent } from './event.ts';
import { parseStored, storedBytes } from '../table/stored.ts';

const storedEventSchema = v.object({
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  id: v.string(),
  event_type: v.string(),
  details: storedBytes,
  run_id: v.string(),
  timestamp: v.string(),
  originator: v.string(),
  cvm_id: v.string(),
  status: v.string(),
  /** 32 bytes. */
  hash: storedBytes,
  /** Absent at the first event. */
  previous_hash: v.optional(storedBytes),
});

export type StoredEvent = v.InferOutput<typeof storedEventSchema>;

type UnchainedEvent = Omit<StoredEvent, 'hash' | 'previous_hash'>;

export function storedEvent(event: NewEvent, number: number, timestamp: string): UnchainedEvent {
  const { details } = event;
  return {
    number,
    id: numberedId(number),
    event_type: event.event_type,
    details: details instanceof Uint8Array ? details : Buffer.from(JSON.stringify(details)),
    run_id: event.run_id ?? '',
    timestamp,
    originator: event.originator,
    cvm_id: event.cvm_id ?? '',
    status: event.status,
  };
}

/** @param previous undefined at the first event */
export function chainedEvent(event: UnchainedEvent, previous: Uint8Array | undefined): StoredEvent {
  const hash = hashOfEvent({ ...hashedPart(event), previous_hash: hexOf(previous) });
  return { ...event, ...(previous ? { previous_hash: previous } : {}), hash: Buffer.from(hash, 'hex') };
}

export function parseStoredEvent(item: unknown): StoredEvent {
  return parseStored(storedEventSchema, item, 'event');
}

/** For the API. */
export function parseEvent(item: unknown): Event {
  return publicEvent(parseStoredEvent(item));
}

export function publicEvent({ hash, previous_hash, ...rest }: StoredEvent): Event {
  return { ...hashedPart(rest), previous_hash: hexOf(previous_hash), hash: hexOf(hash) };
}

function hashedPart({ number: _number, details, ...rest }: UnchainedEvent) {
  return { ...rest, details: Buffer.from(details).toString('base64') };
}

function hexOf(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : '';
}

/** Attribute names, those of a fixed size, and 16 bytes for the domain. */
const overheadInBytes = 360;

/** @returns approximately */
export function storedSizeInBytes(event: UnchainedEvent): number {
  const texts = [event.event_type, event.run_id, event.originator, event.cvm_id, event.status];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), overheadInBytes + event.details.byteLength);
}

export const segmentMarksSchema = v.object({
  /** The last event of each stretch, oldest first. */
  ends: v.array(v.object({ at: v.string(), number: v.number() })),
  strideInBytes: v.number(),
  bytesSinceLast: v.number(),
});

/** They divide the segments into stretches of about the same size. */
export type SegmentMarks = v.InferOutput<typeof segmentMarksSchema>;

/** Below the 1 MB that one query reads. */
const firstStrideInBytes = 768 * 1024;
const maxMarks = 16;

export const noMarks: SegmentMarks = { ends: [], strideInBytes: firstStrideInBytes, bytesSinceLast: 0 };

/** If there are too many, every second mark goes and the stride doubles. */
export function markSegment(marks: SegmentMarks, end: { at: string; number: number }, bytes: number): SegmentMarks {
  const bytesSinceLast = marks.bytesSinceLast + bytes;
  if (bytesSinceLast < marks.strideInBytes) return { ...marks, bytesSinceLast };
  const ends = [...marks.ends, end];
  if (ends.length < maxMarks) return { ...marks, ends, bytesSinceLast: 0 };
  return { ends: ends.filter((_end, index) => index % 2 === 1), strideInBytes: marks.strideInBytes * 2, bytesSinceLast: 0 };
}

/** The most events of one append. */
export const eventsPerAppend = 50;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const journalHeadSchema = v.object({
  /** Events are numbered 1 to `count`. */
  count,
  /** Empty if there is none. */
  last_at: v.string(),
  /** Of event `count`. Absent if there is none. */
  last_hash: v.optional(storedBytes),
  /** Index segments cover exactly the events 1 to `sealed`. */
  sealed: count,
  /** Empty if there is none. */
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

/** Without an item, the journal is empty. */
export function parseHead(item: Item | undefined): JournalHead {
  return item === undefined ? emptyHead : parseStored(journalHeadSchema, item, 'journal head');
}

export async function readHead(table: Table, computationId: string): Promise<JournalHead> {
  return parseHead(await getItem(table, journalKeys.head(computationId)));
}
