import { arrayOf, base64Text, orNull, namedObject, described, shownText, text } from 'computation-management-formats/fields';
import { comparedId } from 'computation-management-formats/identifiers';
import { givenTimestamp } from 'computation-management-formats/timestamps';
import { type ReasonCode, reporters, runStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { detailsLimit, detailsLimitInBase64, isOwnEvent } from '../journal/journal.ts';
import { fits } from '../rows/cvm.ts';

/** The largest number of reports that a CVM can send in one request. */
export const reportsPerBatch = 50;

const longestId = 128;
const id = text(1, longestId);
const runId = comparedId();
const base = {
  id: described(
    id,
    'An identifier that you choose. A second report with it on the same run is counted as a duplicate and ignored.',
  ),
  run_id: described(runId, 'The run that the report is about.'),
};
const commandId = described(comparedId(), 'The command that this report answers.');
/** The largest number of characters of the reason in a report. */
export const longestReason = 1_000;
const sentence = text(0, longestReason);
const reason = v.optional(described(sentence, 'The reason. Up to 1,000 characters.'), '');
const word = text(1, 60);

const agentsEvent = v.pipe(
  word,
  v.check((type) => !isOwnEvent(type), "Expected an event of the agent. This name is reserved for the service's own events."),
);

/**
 * The beginning of the identifiers of reports on events that occur once in a run. The service remembers these reports for longer
 * than a run can last.
 */
export const stateEventIdPrefix = 'state:';

/** Returns the schema of one kind of report of a CVM. */
/*#__NO_SIDE_EFFECTS__*/
function kind<const Type extends string, const Entries extends v.ObjectEntries>(
  type: Type,
  description: string,
  entries: Entries,
) {
  const named = { type: described(v.literal(type), 'The kind of the report.') };
  return described(v.strictObject({ ...named, ...entries }), description);
}

export const reportSchema = v.pipe(
  v.variant(
    'type',
    [
      kind('accepted', 'The CVM accepts a command.', { ...base, command_id: commandId, reason }),
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
          described(
            v.picklist(reporters, 'Expected agent or computation-runner.'),
            'The part of the CVM that the event comes from. Default `agent`.',
          ),
          'agent',
        ),
        reason: v.optional(
          described(sentence, 'The reason. Up to 1,000 characters. It becomes the reason of the run if the event ends the run.'),
        ),
        occurred_at: v.optional(
          described(
            givenTimestamp,
            "The time by the reporter's clock. If `details` is omitted, it is stored in the details of the event. It does not affect the order of events.",
          ),
        ),
      }),
      kind('heartbeat', 'The CVM is alive.', {
        id: v.optional(described(id, 'Returned in the results. A heartbeat is never a duplicate.')),
        run_id: v.optional(described(runId, 'The run that the CVM works on. The heartbeat shows that the run is alive.')),
        agent_state: v.optional(v.pipe(word, v.description('The state of the agent, as it names it.'), v.examples(['Running']))),
        fit: v.optional(
          described(
            v.picklist(fits),
            'Whether the agent can take a run. `ready`: yes. `busy`: it has a run. `spent`: it must be restarted first. `unknown`: you cannot tell.',
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

/**
 * A report of a CVM that is recorded with its run: an answer to a command or an event. Only a gateway gives a `reason_code`, the
 * kind of the end of the run: endpoint 26 refuses it.
 */
export type LastingReport = Exclude<Report, { type: 'heartbeat' }> & { reason_code?: ReasonCode };

/** A report of a CVM that does not match the schema, with as much of it as the answer needs. */
export interface InvalidReport {
  type: 'invalid';
  /** The identifier of the invalid report, cut to 128 characters. Null if the report has none. */
  id: string | null;
  /**
   * The identifier of the run that the invalid report names. Absent if the report names none, or if the identifier is no text.
   */
  run_id?: string;
  detail: string;
}

/**
 * Returns an invalid report in place of what a CVM sent.
 * @param detail where the sent report is wrong, as a JSON pointer, and what was expected there
 */
export function invalidReport(given: unknown, detail: string): InvalidReport {
  const { id, run_id } = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  return {
    type: 'invalid',
    id: typeof id === 'string' ? Array.from(id).slice(0, longestId).join('') : null,
    ...(typeof run_id === 'string' ? { run_id: run_id.toLowerCase() } : {}),
    detail,
  };
}

const reportResult = namedObject('ReportResult', 'What became of a report.', {
  id: orNull(shownText(longestId), 'The identifier of the report. null if it has none.'),
  outcome: described(
    v.picklist(['recorded', 'duplicate', 'unknown_run', 'invalid']),
    '`unknown_run`: this CVM has no such run. `invalid`: the report does not match the schema, or answers a command that its active ' +
      'run does not have. Only `recorded` reports have an effect.',
  ),
  run_status: orNull(
    v.picklist(runStatuses),
    'The status of the run after the report. A report that ends the run changes it with a short delay. If it is `failed` or ' +
      '`cancelled`, stop working on the run. null if there is no run.',
  ),
  detail: v.optional(
    shownText(1_000, 'The JSON Pointer of the error, and what was expected there. Present only if `outcome` is `invalid`.'),
  ),
});
type ReportResult = v.InferOutput<typeof reportResult>;

const countOfReports = v.pipe(v.number(), v.integer(), v.metadata({ maximum: reportsPerBatch }));

export const reportSummarySchema = namedObject('ReportSummary', 'What became of the reports of a batch.', {
  accepted: described(countOfReports, 'The number of reports with the outcome `recorded`.'),
  duplicates: described(countOfReports, 'The number of reports with the outcome `duplicate`.'),
  results: arrayOf(reportResult, reportsPerBatch, 'The result of each report, in the order of the reports.'),
});
export type ReportSummary = v.InferOutput<typeof reportSummarySchema>;

/** The answer of the service to one report of a CVM, without the identifier of the report. Of an invalid one it only says the status of the run, and what is wrong. */
export type Outcome = Omit<ReportResult, 'id'>;

/**
 * Returns the answer to a batch of reports of a CVM.
 * @param outcomes the outcomes of the reports on runs of the CVM, by their places in the batch
 */
export function summaryOf(reports: (Report | InvalidReport)[], outcomes: ReadonlyMap<number, Outcome>): ReportSummary {
  const results = reports.map((report, place) => resultOf(report, outcomes.get(place)));
  const count = (outcome: ReportResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return { accepted: count('recorded'), duplicates: count('duplicate'), results };
}

/** Returns the result of one report of a CVM for the answer. @param outcome undefined if the report names no run of the CVM */
function resultOf(report: Report | InvalidReport, outcome: Outcome | undefined): ReportResult {
  if (report.type === 'invalid') {
    const { id, detail } = report;
    return { id, outcome: 'invalid', run_status: outcome?.run_status ?? null, detail };
  }
  // Only a heartbeat may name no run.
  const withoutRun: Outcome = { outcome: report.run_id === undefined ? 'recorded' : 'unknown_run', run_status: null };
  return { id: report.id ?? null, ...(outcome ?? withoutRun) };
}
