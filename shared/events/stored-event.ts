import * as v from 'valibot';
import type { Event, NewEvent } from './event.ts';
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
});

/** An event as it is stored, with its number in the journal and its details as bytes. */
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

/** @throws Error if the item is not an event */
export function parseStoredEvent(item: unknown): StoredEvent {
  return parseStored(storedEventSchema, item, 'event');
}

/** Parses an event for the API, such as the item at `journalKeys.latest`. @throws Error if the item is not an event */
export function parseEvent(item: unknown): Event {
  return publicEvent(parseStoredEvent(item));
}

export function publicEvent({ number: _number, details, ...rest }: StoredEvent): Event {
  return { ...rest, details: Buffer.from(details).toString('base64') };
}

const overheadInBytes = 200;

/** Returns the approximate size of the event's item, in bytes. */
export function storedSizeInBytes(event: StoredEvent): number {
  const texts = [event.event_type, event.run_id, event.originator, event.cvm_id, event.status];
  return texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), overheadInBytes + event.details.byteLength);
}
