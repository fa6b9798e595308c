import { described, namedObject, shownText } from 'computation-management-formats/fields';
import { seenName } from 'computation-management-formats/look-alikes';
import { timestamp } from 'computation-management-formats/timestamps';
import {
  type AdministrativeEvent,
  administrativeEvents,
  type LifecycleEvent,
  lifecycleEvents,
  type Reporter,
} from 'computation-management-formats/vocabulary';
import * as v from 'valibot';

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
    v.metadata({ format: 'uuid', maxLength: 36, examples: ['9f0c6a52-4a0e-4d6c-8a43-5d0f5f0e7c11'] }),
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
