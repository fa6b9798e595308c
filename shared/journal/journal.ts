import * as v from 'valibot';
import { described, namedObject, shownText } from 'computation-management-formats/fields';
import { seenName } from 'computation-management-formats/quoted-name';
import { timestamp } from 'computation-management-formats/timestamps';
import {
  type AdministrativeEvent,
  administrativeEvents,
  type LifecycleEvent,
  lifecycleEvents,
  type Reporter,
} from 'computation-management-formats/vocabulary';
import { hashOfEvent } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import { journalKeys } from '../table/keys.ts';
import { type Table, getItem, type Item } from '../table/table.ts';
import { parseStored, storedBytes } from '../table/stored.ts';

/** The types of the events by which a gateway records what it saw of the connections of a CVM. No CVM reports them. */
export const gatewayEvents = ['Attestation', 'Reconnected', 'IdentityConflict', 'StreamRefused'] as const;

const ownEvents = new Set([...lifecycleEvents, ...administrativeEvents, ...gatewayEvents].map(seenName));
const agentsOwn = 'Failed';

/**
 * Returns whether an event type is one of the service's own types, or looks like one. An agent may not report such an event,
 * except `Failed`.
 */
export function isOwnEvent(eventType: string): boolean {
  return eventType !== agentsOwn && ownEvents.has(seenName(eventType));
}

/** Schema of a SHA-256 or SHA3-256 in hex, lower case. */
export const hashInHex = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, 'Expected 64 hex digits.'), v.metadata({ maxLength: 64 }));

/** The largest details of an event in bytes, before base64. A page of 100 events then fits into the response of a function. */
export const detailsLimit = 32 * 1024;
/** The most characters of the details of an event in base64, which encode 32 KiB. */
export const detailsLimitInBase64 = Math.ceil(detailsLimit / 3) * 4;

const inCode = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');

export const eventSchema = namedObject('Event', 'An event in the journal of a computation.', {
  id: v.pipe(
    v.string(),
    v.uuid(),
    v.description('The identifier of the event, a UUID.'),
    v.metadata({ format: 'uuid', maxLength: 36, examples: ['00000000-0004-8d6c-8a43-5d0f5f0e7c11'] }),
  ),
  event_type: v.pipe(
    shownText(60),
    v.description(
      `The type of the event. Lifecycle: ${inCode(lifecycleEvents)}. Administrative changes: ` +
        `${inCode(administrativeEvents)}. Recorded by a gateway: ${inCode(gatewayEvents)}. Any other type is the name of an event that the agent in the CVM reported.`,
    ),
    v.examples(['started', 'completed']),
  ),
  details: v.pipe(
    v.string(),
    v.base64(),
    v.description('The details in base64: a JSON object in UTF-8, or the bytes that an agent sent.'),
    v.metadata({ maxLength: detailsLimitInBase64 }),
    v.examples(['e30=']),
  ),
  run_id: v.pipe(
    shownText(36),
    v.description('The run that the event belongs to. Empty if it belongs to none.'),
    v.examples(['00000000-002a-8b1f-9c3d-6f1a2b3c4d5e']),
  ),
  timestamp: described(timestamp, 'The time when the service recorded the event, UTC. Never decreases.'),
  originator: v.pipe(
    shownText(255),
    v.description('The originator of the event: a user, `system`, or the part of the CVM that reported it.'),
    v.examples(['system', 'agent']),
  ),
  cvm_id: v.pipe(
    shownText(64),
    v.description('The CVM on which the event happened. Empty if there was none.'),
    v.examples(['cvm-1']),
  ),
  status: v.pipe(
    shownText(60),
    v.description("`success` or `failure`. Events of an agent have the agent's own status."),
    v.examples(['success']),
  ),
  previous_hash: v.pipe(
    v.string(),
    v.regex(/^([0-9a-f]{64})?$/, 'Expected 64 hex digits, or none.'),
    v.metadata({ maxLength: 64 }),
    v.description('The `hash` of the previous event of the computation. Empty in the first event.'),
    v.examples(['']),
  ),
  hash: v.pipe(
    hashInHex,
    v.description('The SHA-256, hex, of the canonical JSON (RFC 8785) of the event without `hash`.'),
    v.examples(['b7e3b1f1ad8f0b0e0a8c4b7a4f0f2f5d6a9c1e3d5b7f9a1c3e5d7b9f1a3c5e7d']),
  ),
});

export type Event = v.InferOutput<typeof eventSchema>;

interface EventFields {
  status: string;
  run_id?: string;
  cvm_id?: string;
  /** The details of an event: a JSON object, or the bytes that an agent sent. */
  details: Record<string, unknown> | Uint8Array;
}

/** An event that a CVM reported, with the agent's own name for it. */
export interface ReportedEvent extends EventFields {
  event_type: string;
  originator: Reporter;
  /**
   * True if the event counts as the latest lifecycle event of the computation. False if the event came after the end of the run.
   */
  lifecycle: boolean;
}

/** An event that the service itself records: a change of a computation's status or an administrative change. */
export type OwnEvent = EventFields & { originator: string } & (
    { event_type: LifecycleEvent; lifecycle: true } | { event_type: AdministrativeEvent; lifecycle: false }
  );

/** An event to append to the journal of a computation. The service assigns its identifier, number and timestamp. */
export type NewEvent = OwnEvent | ReportedEvent;

/** Makes the event of a change by a user that is no part of the lifecycle. */
export const administrativeEvent = (
  event_type: AdministrativeEvent,
  originator: string,
  details: Record<string, unknown>,
): OwnEvent => ({ event_type, status: 'success', originator, details, lifecycle: false });

const storedEventSchema = v.object({
  number: v.pipe(v.number(), v.integer(), v.minValue(1)),
  id: v.string(),
  event_type: v.string(),
  details: storedBytes,
  ...v.entriesFromList(['run_id', 'timestamp', 'originator', 'cvm_id', 'status'], v.string()),
  /** The SHA-256 of an event in a journal, which also covers the hash of the previous event: 32 bytes. */
  hash: storedBytes,
  /** The SHA-256 of the previous event in the journal. Absent at the first event. */
  previous_hash: v.optional(storedBytes),
});

/** An event as a journal stores it: with its number, and with bytes for details and hashes. */
export type StoredEvent = v.InferOutput<typeof storedEventSchema>;

type UnchainedEvent = Omit<StoredEvent, 'hash' | 'previous_hash'>;

/** Returns a new event in the form that a journal stores, without its hash. */
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

/**
 * Adds to an event of a journal its hash. The hash covers the hash of the previous event, so no event can be changed unnoticed.
 * @param previous the hash of the previous event; undefined at the first event
 */
export function chainedEvent(event: UnchainedEvent, previous: Uint8Array | undefined): StoredEvent {
  const hash = hashOfEvent({ ...hashedPart(event), previous_hash: hexOf(previous) });
  return { ...event, ...(previous ? { previous_hash: previous } : {}), hash: Buffer.from(hash, 'hex') };
}

export function parseStoredEvent(item: unknown): StoredEvent {
  return parseStored(storedEventSchema, item, 'event');
}

/** Parses an event as the journal stores it and returns it as the API shows it. */
export function parseEvent(item: unknown): Event {
  return publicEvent(parseStoredEvent(item));
}

/** Returns an event of a journal, given as it is stored, as the API shows it. */
export function publicEvent({ hash, previous_hash, ...rest }: StoredEvent): Event {
  return { ...hashedPart(rest), previous_hash: hexOf(previous_hash), hash: hexOf(hash) };
}

function hashedPart({ number: _number, details, ...rest }: UnchainedEvent) {
  return { ...rest, details: Buffer.from(details).toString('base64') };
}

function hexOf(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : '';
}

/**
 * The size in bytes of what every event in a journal takes in the table: attribute names, attributes of a fixed size, and 16
 * bytes for the domain.
 */
const overheadInBytes = 360;

/** Returns about how many bytes an event takes in the table. */
export function storedSizeInBytes(event: UnchainedEvent): number {
  const texts = [event.event_type, event.run_id, event.originator, event.cvm_id, event.status];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), overheadInBytes + event.details.byteLength);
}

/**
 * Schema of the marks that divide the index segments of a journal into stretches, for parallel reads. The head of the journal
 * has them.
 */
export const segmentMarksSchema = v.object({
  /** The time and the number of the last event in each stretch of index segments, the oldest first. */
  ends: v.array(v.object({ at: v.string(), number: v.number() })),
  strideInBytes: v.number(),
  bytesSinceLast: v.number(),
});

/**
 * The marks that divide the index segments of a journal into stretches of about the same size, so that they can be read in
 * parallel.
 */
export type SegmentMarks = v.InferOutput<typeof segmentMarksSchema>;

/** The size of a stretch of index segments in a small journal. It is below the 1 MB that one query reads. */
const firstStrideInBytes = 768 * 1024;
const maxMarks = 16;

/** The marks of a journal without index segments. */
export const noMarks: SegmentMarks = { ends: [], strideInBytes: firstStrideInBytes, bytesSinceLast: 0 };

/**
 * Returns the marks of a journal with one more index segment counted. If there are too many marks, removes every second one and
 * doubles the size of a stretch.
 * @param end the last event in the segment
 * @param bytes the size of the segment
 */
export function markSegment(marks: SegmentMarks, end: { at: string; number: number }, bytes: number): SegmentMarks {
  const bytesSinceLast = marks.bytesSinceLast + bytes;
  if (bytesSinceLast < marks.strideInBytes) return { ...marks, bytesSinceLast };
  const ends = [...marks.ends, end];
  if (ends.length < maxMarks) return { ...marks, ends, bytesSinceLast: 0 };
  return { ends: ends.filter((_end, index) => index % 2 === 1), strideInBytes: marks.strideInBytes * 2, bytesSinceLast: 0 };
}

/** The most events that one append to a journal takes. */
export const eventsPerAppend = 50;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const journalHeadSchema = v.object({
  /** The number of events in the journal. They are numbered from 1 to `count`. */
  count,
  /** The time of the last event in the journal. Empty if the journal has no events. */
  last_at: v.string(),
  /** The SHA-256 of the last event in the journal. Absent if the journal has no events. */
  last_hash: v.optional(storedBytes),
  /**
   * The number of the last event of the journal that an index segment covers. Index segments cover exactly the events 1 to
   * `sealed`.
   */
  sealed: count,
  /** The time of the last event of the journal that an index segment covers. Empty if the journal has no index segment. */
  sealed_at: v.string(),
  unsealed_bytes: count,
  marks: segmentMarksSchema,
});

/** The state of a journal: how many events it has, the last one's time and hash, and which events index segments cover. */
export type JournalHead = v.InferOutput<typeof journalHeadSchema>;

const emptyHead: JournalHead = { count: 0, last_at: '', sealed: 0, sealed_at: '', unsealed_bytes: 0, marks: noMarks };

/** Parses the head of a journal. Returns an empty head if there is no item, as for a journal without events. */
export function parseHead(item: Item | undefined): JournalHead {
  return item === undefined ? emptyHead : parseStored(journalHeadSchema, item, 'journal head');
}

/** Reads the head of a journal, strongly consistent. Returns an empty head if the journal has no events. */
export async function readHead(table: Table, computationId: string): Promise<JournalHead> {
  return parseHead(await getItem(table, journalKeys.head(computationId)));
}
