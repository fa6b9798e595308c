import type { Report } from './report.ts';

export interface Refusal {
  reason: string;
  /** Whether the CVM's own agent is connected, so that a second one showed its certificate. Default false. */
  isConflict?: boolean;
  /** The address that the stream came from. */
  peer: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

type Fields = 'type' | 'id' | 'event_type' | 'status' | 'details';

/**
 * Returns the report that a stream of a CVM was refused. All refusals within an hour have the same identifier, so one of them is recorded: a machine
 * that is refused tries again every few seconds, for as long as it exists.
 */
export function refusalEvent({
  reason,
  isConflict = false,
  peer,
  now,
}: Refusal): Pick<Extract<Report, { type: 'event' }>, Fields> {
  return {
    type: 'event',
    id: `${isConflict ? 'conflict' : 'refused'}:${now.slice(0, 'yyyy-mm-ddThh'.length)}`,
    event_type: isConflict ? 'IdentityConflict' : 'StreamRefused',
    status: 'Warning',
    details: Buffer.from(JSON.stringify({ detail: reason, peer })).toString('base64'),
  };
}
