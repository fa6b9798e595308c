import * as v from 'valibot';
import { base64Text } from '../base64.ts';
import { detailsLimit, detailsLimitInBase64, isOwnEvent } from '../events/event.ts';
import { comparedId } from '../identifier-schemas.ts';
import { reporters } from '../originators.ts';
import { text } from '../text.ts';
import { givenTimestamp } from '../timestamp.ts';
import { fits } from './presence.ts';

export const reportsPerBatch = 50;

/** The longest identifier of a report, in characters. */
export const longestId = 128;
const id = text(1, longestId);
const runId = comparedId();
const base = {
  id: v.pipe(
    id,
    v.description(
      'An identifier that you choose. A second report with it on the same run is counted as a duplicate and ignored.',
    ),
  ),
  run_id: v.pipe(runId, v.description('The run that the report is about.')),
};
const commandId = v.pipe(comparedId(), v.description('The command that this report answers.'));
/** The longest reason, in characters. */
export const longestReason = 1_000;
const sentence = text(0, longestReason);
const reason = v.optional(v.pipe(sentence, v.description('The reason. Up to 1,000 characters.')), '');
const word = text(1, 60);

const agentsEvent = v.pipe(
  word,
  v.check((type) => !isOwnEvent(type), "Expected an event of the agent. This name is reserved for the service's own events."),
);

/**
 * The prefix of the identifiers of reports on events that occur once in a run, such as a state of the agent. The service remembers
 * these identifiers for longer than a run can last.
 */
export const stateEventIdPrefix = 'state:';

/*#__NO_SIDE_EFFECTS__*/
function kind<const Type extends string, const Entries extends v.ObjectEntries>(
  type: Type,
  description: string,
  entries: Entries,
) {
  const named = { type: v.pipe(v.literal(type), v.description('The kind of the report.')) };
  return v.pipe(v.strictObject({ ...named, ...entries }), v.description(description));
}

/** A report of a CVM, or of the gateway that reports for it. */
export const reportSchema = v.pipe(
  v.variant(
    'type',
    [
      kind('accepted', 'The CVM accepts a command.', {
        ...base,
        command_id: commandId,
        reason,
        attestation_hash: v.optional(
          v.pipe(
            v.string(),
            v.regex(/^[0-9a-fA-F]{64}$/, 'Expected a hash in hex, 64 digits.'),
            v.toLowerCase(),
            v.metadata({ maxLength: 64 }),
            v.description('The SHA-256 of the attestation token of the CVM, 64 hex digits. The run that is accepted keeps it.'),
          ),
        ),
      }),
      kind('rejected', 'The CVM rejects a command.', { ...base, command_id: commandId, reason }),
      kind('event', 'An event of the agent in the CVM.', {
        ...base,
        event_type: v.pipe(agentsEvent, v.description("The agent's name for the event."), v.examples(['Running'])),
        status: v.pipe(word, v.description("The agent's status."), v.examples(['InProgress'])),
        details: v.optional(
          v.pipe(
            base64Text,
            v.maxLength(detailsLimitInBase64, 'Expected at most 32 KiB.'),
            v.check((details) => Buffer.byteLength(details, 'base64') <= detailsLimit, 'Expected at most 32 KiB.'),
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
        reason: v.optional(
          v.pipe(
            sentence,
            v.description('The reason. Up to 1,000 characters. It becomes the reason of the run if the event ends the run.'),
          ),
        ),
        occurred_at: v.optional(
          v.pipe(
            givenTimestamp,
            v.description(
              "The time by the reporter's clock. If `details` is omitted, it is stored in the details of the event. It does not affect the order of events.",
            ),
          ),
        ),
      }),
      kind('heartbeat', 'The CVM is alive.', {
        id: v.optional(v.pipe(id, v.description('Returned in the results. A heartbeat is never a duplicate.'))),
        run_id: v.optional(
          v.pipe(runId, v.description('The run that the CVM works on. The heartbeat shows that the run is alive.')),
        ),
        agent_state: v.optional(v.pipe(word, v.description('The state of the agent, as it names it.'), v.examples(['Running']))),
        fit: v.optional(
          v.pipe(
            v.picklist(fits),
            v.description(
              'Whether the agent can take a run. `ready`: yes. `busy`: it has a run. `spent`: it must be restarted first. `unknown`: you cannot tell.',
            ),
          ),
        ),
      }),
    ],
    'Expected type accepted, rejected, event or heartbeat.',
  ),
  v.title('Report'),
  v.description('A report of a CVM. Its `type` says which kind it is.'),
);
export type Report = v.InferOutput<typeof reportSchema>;

/** A report that is recorded once. Heartbeats are not. */
export type LastingReport = Exclude<Report, { type: 'heartbeat' }>;

/** An invalid report of a batch. The other reports of the batch are still processed. */
export interface InvalidReport {
  type: 'invalid';
  /** Cut to 128 characters. */
  id: string | null;
  /** As given. Absent if the report has none, or one that is no text. */
  run_id?: string;
  /** What was expected where. */
  detail: string;
}

/** @param given an entry of a batch that does not fit the schema */
export function invalidReport(given: unknown, detail: string): InvalidReport {
  const { id, run_id } = (typeof given === 'object' && given !== null ? given : {}) as { id?: unknown; run_id?: unknown };
  return {
    type: 'invalid',
    id: typeof id === 'string' ? Array.from(id).slice(0, longestId).join('') : null,
    ...(typeof run_id === 'string' ? { run_id } : {}),
    detail,
  };
}
