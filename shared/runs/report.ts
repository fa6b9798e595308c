import * as v from 'valibot';
import { isOwnEvent, reporters } from '../events/event.ts';
import { strictObject } from '../strict-object.ts';
import { text } from '../text.ts';

const base = {
  id: v.pipe(
    text(1, 128),
    v.description('An identifier that the reporter chooses. A second report with it on the same run is counted and ignored.'),
  ),
  run_id: v.pipe(v.string('Expected a run identifier.'), v.description('The run that the report is about.')),
};
const commandId = v.pipe(v.string(), v.description('The command that this report answers.'));
const reason = v.optional(v.pipe(text(0, 1000), v.description('Why, in a sentence. Up to 1,000 characters.')), '');
const word = text(1, 60);

const agentsEvent = v.pipe(
  word,
  v.check((type) => !isOwnEvent(type), "Expected an event of the agent. This name is reserved for the service's own events."),
);

/** 32 KiB in base64: a page of a hundred events fits into what a function may return. */
const detailsLimit = Math.ceil((32 * 1024) / 3) * 4;

/** A report of a CVM, or of the gateway that reports for it. */
export const reportSchema = v.pipe(
  v.variant(
    'type',
    [
      v.strictObject({ ...base, type: v.literal('accepted'), command_id: commandId, reason }),
      v.strictObject({ ...base, type: v.literal('rejected'), command_id: commandId, reason }),
      v.strictObject({
        ...base,
        type: v.literal('event'),
        event_type: v.pipe(agentsEvent, v.description("The agent's name for the event."), v.examples(['Running'])),
        status: v.pipe(word, v.description("The agent's status."), v.examples(['InProgress'])),
        details: v.optional(
          v.pipe(
            v.string(),
            v.base64('Expected base64.'),
            v.maxLength(detailsLimit, 'Expected at most 32 KiB.'),
            v.description('Details in base64, stored unchanged. Up to 32 KiB.'),
          ),
        ),
        originator: v.optional(
          v.pipe(
            v.picklist(reporters, 'Expected agent or computation-runner.'),
            v.description('The part of the CVM that the event comes from. Default `agent`.'),
          ),
          'agent',
        ),
        occurred_at: v.optional(
          v.pipe(
            v.string(),
            v.isoTimestamp('Expected an RFC 3339 timestamp.'),
            v.description(
              "The time by the reporter's clock. It becomes the details if `details` is omitted, and does not affect the order of events.",
            ),
          ),
        ),
      }),
      v.strictObject({ ...base, type: v.literal('heartbeat') }),
    ],
    'Expected type accepted, rejected, event or heartbeat.',
  ),
  v.title('Report'),
);
export type Report = v.InferOutput<typeof reportSchema>;

const reportsPerBatch = 50;

/** The body of endpoint 26. */
export const reportBatch = v.pipe(
  strictObject({
    reports: v.pipe(
      v.array(reportSchema),
      v.minLength(1, 'Expected 1 to 50 reports.'),
      v.maxLength(reportsPerBatch, 'Expected 1 to 50 reports.'),
    ),
  }),
  v.title('ReportBatch'),
);
