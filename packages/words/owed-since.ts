import type { Schemas } from 'computation-management-client';

/** The types of events that change the manifest or the configuration of a computation. */
const changes = ['created', 'updated', 'owner_changed', 'asset_linked', 'asset_unlinked', 'key_uploaded', 'key_removed'];

/** The types of events after which a result waits for its reviewers. */
const reviewed = ['completed', 'result_submitted'];

type Told = Pick<Schemas['Event'], 'event_type' | 'originator' | 'timestamp' | 'details'>;

/**
 * Returns the time since which a user owes a thing to a computation, also the review of a result, as far as the events tell.
 * @param events the latest events of the computation, newest first
 */
export function owedSince(
  { kind, since }: { kind: 'key' | 'content' | 'approval' | 'review'; since?: string | undefined },
  user: string,
  events: readonly Told[],
): string | undefined {
  if (kind === 'content') return since;
  if (kind === 'review') return events.find(({ event_type }) => reviewed.includes(event_type))?.timestamp;
  const own = events.filter(({ originator }) => originator === user);
  const found =
    kind === 'approval'
      ? events.find(
          (event) =>
            changes.includes(event.event_type) ||
            (['approval_withdrawn', 'approval_refused'].includes(event.event_type) && event.originator === user),
        )
      : (own.find(({ event_type }) => event_type === 'key_removed') ??
        own.findLast(({ event_type }) => event_type === 'created' || event_type === 'asset_linked') ??
        invitedAt(events));
  return found?.timestamp;
}

/** Returns the event that named the people of a computation last. */
function invitedAt(events: readonly Told[]): Told | undefined {
  const names = ({ event_type, details }: Told) =>
    event_type === 'created' || (event_type === 'updated' && /"(providers|consumers|result_review)"/.test(atob(details)));
  return events.find(names);
}
