import * as v from 'valibot';
import { strictObject } from '../strict-object.ts';
import { text } from '../text.ts';

const base = {
  id: v.pipe(text(1, 128), v.description("Of the reporter's choosing; one seen before on the same run is counted and ignored.")),
  run_id: v.pipe(v.string('Expected a run identifier.'), v.description('The run that the report is about.')),
};
const reason = v.optional(v.pipe(text(0, 1000), v.description('Why, for people.')), '');
const word = text(1, 60);

/** The parts of a CVM that report events. A report cannot name the service or a user as originator. */
const reporters = ['agent', 'computation-runner'] as const;

/** The service's own events say what the service knows. */
const ownEvents = ['created', 'started', 'stop_requested', 'completed', 'failed', 'cancelled'];
const ownChanges = ['updated', 'owner_changed', 'asset_linked', 'asset_unlinked', 'key_uploaded'];
const agentsEvent = v.pipe(
  word,
  v.check(
    (type) => !ownEvents.includes(type) && !ownChanges.includes(type),
    "Expected an agent's event, not one of the service's own.",
  ),
);

/** 32 KiB in base64: a page of a hundred events stays within what a function may answer. */
const detailsLimit = Math.ceil((32 * 1024) / 3) * 4;

/** What a CVM, or the gateway that speaks for it, reports (endpoint 26). */
export const reportSchema = v.variant(
  'type',
  [
    v.strictObject({ ...base, type: v.literal('accepted'), command_id: v.string(), reason }),
    v.strictObject({ ...base, type: v.literal('rejected'), command_id: v.string(), reason }),
    v.strictObject({
      ...base,
      type: v.literal('event'),
      event_type: v.pipe(agentsEvent, v.description("The agent's own name of the event."), v.examples(['Running'])),
      status: v.pipe(word, v.description("The agent's own status."), v.examples(['InProgress'])),
      details: v.optional(
        v.pipe(
          v.string(),
          v.base64('Expected base64.'),
          v.maxLength(detailsLimit, 'Expected at most 32 KiB.'),
          v.description('Kept as given; at most 32 KiB.'),
        ),
      ),
      originator: v.optional(
        v.pipe(
          v.picklist(reporters, 'Expected agent or computation-runner.'),
          v.description('The part of the CVM that saw it: `agent`, `computation-runner`.'),
        ),
        'agent',
      ),
      occurred_at: v.optional(
        v.pipe(
          v.string(),
          v.isoTimestamp('Expected an RFC 3339 timestamp.'),
          v.description("The reporter's own clock. Goes into the details where none are given; never orders events."),
        ),
      ),
    }),
    v.strictObject({ ...base, type: v.literal('heartbeat') }),
  ],
  'Expected type accepted, rejected, event or heartbeat.',
);
export type Report = v.InferOutput<typeof reportSchema>;

const reportsPerBatch = 50;

/** Body of endpoint 26. */
export const reportBatch = strictObject({
  reports: v.pipe(
    v.array(reportSchema),
    v.minLength(1, 'Expected 1 to 50 reports.'),
    v.maxLength(reportsPerBatch, 'Expected 1 to 50 reports.'),
  ),
});
