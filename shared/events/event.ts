import * as v from 'valibot';
import { timestamp } from '../timestamp.ts';

/** An event as the API returns it (the specification's Event; endpoints 23 and 24). */
export const eventSchema = v.object({
  id: v.pipe(
    v.string(),
    v.uuid(),
    v.description('Event identifier, a UUID.'),
    v.examples(['9f0c6a52-4a0e-4d6c-8a43-5d0f5f0e7c11']),
  ),
  event_type: v.pipe(
    v.string(),
    v.description(
      'What happened: `created`, `started`, `stop_requested`, `completed`, `failed`, `cancelled`; an administrative change ' +
        '(`updated`, `owner_changed`, `asset_linked`, `asset_unlinked`, `key_uploaded`); or the event of an agent, by its own name.',
    ),
    v.examples(['started', 'completed']),
  ),
  details: v.pipe(
    v.string(),
    v.base64(),
    v.description('Base64 of a UTF-8 JSON object, or of the bytes as an agent sent them.'),
    v.examples(['e30=']),
  ),
  run_id: v.pipe(
    v.string(),
    v.description('The run that the event belongs to; empty where there is none.'),
    v.examples(['00000000-002a-8b1f-9c3d-6f1a2b3c4d5e']),
  ),
  timestamp: v.pipe(
    timestamp,
    v.description('When the service recorded the event, UTC. Never goes backwards within a computation.'),
  ),
  originator: v.pipe(
    v.string(),
    v.description('Who caused the event: a user identifier, `system`, or the part of the CVM that reported it.'),
    v.examples(['system', 'agent']),
  ),
  cvm_id: v.pipe(v.string(), v.description('The CVM it happened on; empty where there is none.'), v.examples(['cvm-1'])),
  status: v.pipe(
    v.string(),
    v.description("`success` or `failure`; the agent's own word on its events."),
    v.examples(['success']),
  ),
});

export type Event = v.InferOutput<typeof eventSchema>;

/** An event to record. The service assigns its identifier, number and timestamp. */
export interface NewEvent {
  event_type: string;
  status: string;
  originator: string;
  run_id?: string;
  cvm_id?: string;
  /** A JSON object, or the bytes that an agent sent. */
  details: Record<string, unknown> | Uint8Array;
  /** False for administrative events, which endpoint 24 never returns. */
  lifecycle: boolean;
}
