import type { Schemas } from 'computation-management-client';
import { detailsIn } from 'computation-management-formats/bytes';

type Event = Pick<Schemas['Event'], 'event_type' | 'details'>;

/** The types of the events about keys of files. */
export const eventsOfKeys = ['key_released', 'key_refused'];

/** Returns the identifier of the asset whose key an event released or refused. Undefined for events of other types. */
export function assetOfKey({ event_type, details }: Event): string | undefined {
  return eventsOfKeys.includes(event_type) ? String(detailsIn(details)['asset']) : undefined;
}

/** Returns why the key of a file was refused, if the run failed for this reason. */
export function fatalRefusal(
  { status, reason }: Pick<Schemas['Run'], 'status' | 'reason'>,
  events: readonly Event[],
): string | undefined {
  const isRefusal = (event: Event) => assetOfKey(event) !== undefined && detailsIn(event.details)['reason'] === reason;
  return status === 'failed' && reason !== null && events.some(isRefusal) ? reason : undefined;
}
