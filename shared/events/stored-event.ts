import * as v from 'valibot';
import { type Event, hashOfEvent, type NewEvent } from './event.ts';
import { numberedId } from '../identifiers.ts';
import { parseStored, storedBytes } from '../table/parse-stored.ts';

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
  /** 32 bytes. Events of earlier versions have none. */
  hash: v.optional(storedBytes),
  /** The `hash` of the event before. Absent at the first event of a chain. */
  previous_hash: v.optional(storedBytes),
});

/** An event as it is stored, with its number in the journal, and with its details and hashes as bytes. */
export type StoredEvent = v.InferOutput<typeof storedEventSchema>;

export function storedEvent(event: NewEvent, number: number, timestamp: string): StoredEvent {
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
 * Chains an event to the event before it.
 * @param previous the hash of the event before; undefined at the first event of a chain
 */
export function chainedEvent(event: StoredEvent, previous: Uint8Array | undefined): StoredEvent & { hash: Uint8Array } {
  const hash = hashOfEvent({ ...publicEvent(event), previous_hash: hexOf(previous) });
  return { ...event, ...(previous ? { previous_hash: previous } : {}), hash: Buffer.from(hash, 'hex') };
}

/** @throws Error if the item is not an event */
export function parseStoredEvent(item: unknown): StoredEvent {
  return parseStored(storedEventSchema, item, 'event');
}

/** Parses an event for the API, such as the item at `journalKeys.latest`. @throws Error if the item is not an event */
export function parseEvent(item: unknown): Event {
  return publicEvent(parseStoredEvent(item));
}

export function publicEvent({ number: _number, details, hash, previous_hash, ...rest }: StoredEvent): Event {
  const event = { ...rest, details: Buffer.from(details).toString('base64') };
  return hash ? { ...event, previous_hash: hexOf(previous_hash), hash: hexOf(hash) } : event;
}

/** Returns hex digits, none without bytes. */
function hexOf(bytes: Uint8Array | undefined): string {
  return bytes ? Buffer.from(bytes).toString('hex') : '';
}

/** The names of the attributes, and those of a fixed size. The domain counts as 16 bytes. */
const overheadInBytes = 360;

/** Returns the approximate size of the event's item, in bytes. */
export function storedSizeInBytes(event: StoredEvent): number {
  const texts = [event.event_type, event.run_id, event.originator, event.cvm_id, event.status];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), overheadInBytes + event.details.byteLength);
}
