import * as v from 'valibot';
import { runStatuses } from '../computations/run.ts';
import { shownText } from '../text.ts';
import { longestId, reportsPerBatch, type InvalidReport, type Report } from './report.ts';

const reportResult = v.pipe(
  v.object({
    id: v.pipe(v.nullable(shownText(longestId)), v.description('The identifier of the report. null if it has none.')),
    outcome: v.pipe(
      v.picklist(['recorded', 'duplicate', 'unknown_run', 'invalid']),
      v.description(
        '`unknown_run`: this CVM has no such run. `invalid`: the report does not match the schema, or answers a command that its active ' +
          'run does not have. Only `recorded` reports have an effect.',
      ),
    ),
    run_status: v.pipe(
      v.nullable(v.picklist(runStatuses)),
      v.description(
        'The status of the run after the report. A report that ends the run changes it with a short delay. If it is `failed` or ' +
          '`cancelled`, stop working on the run. null if there is no run.',
      ),
    ),
    detail: v.optional(
      v.pipe(
        shownText(1_000),
        v.description('The JSON Pointer of the error, and what was expected there. Present only if `outcome` is `invalid`.'),
      ),
    ),
  }),
  v.title('ReportResult'),
  v.description('What became of a report.'),
);
type ReportResult = v.InferOutput<typeof reportResult>;

/** The answer of endpoint 26. */
export const reportSummarySchema = v.pipe(
  v.object({
    accepted: v.pipe(
      v.number(),
      v.integer(),
      v.description('The number of reports with the outcome `recorded`.'),
      v.metadata({ maximum: reportsPerBatch }),
    ),
    duplicates: v.pipe(
      v.number(),
      v.integer(),
      v.description('The number of reports with the outcome `duplicate`.'),
      v.metadata({ maximum: reportsPerBatch }),
    ),
    results: v.pipe(
      v.array(reportResult),
      v.description('The result of each report, in the order of the reports.'),
      v.metadata({ maxItems: reportsPerBatch }),
    ),
  }),
  v.title('ReportSummary'),
  v.description('What became of the reports of a batch.'),
);
export type ReportSummary = v.InferOutput<typeof reportSummarySchema>;

/** The result of a report on a run of the CVM. Of a report that does not fit the schema, only the status of the run counts. */
export type Outcome = Omit<ReportResult, 'id'>;

/** @param outcomes those of reports on runs of the CVM, by their places in the batch */
export function summaryOf(reports: (Report | InvalidReport)[], outcomes: ReadonlyMap<number, Outcome>): ReportSummary {
  const results = reports.map((report, place) => resultOf(report, outcomes.get(place)));
  const count = (outcome: ReportResult['outcome']) => results.filter((result) => result.outcome === outcome).length;
  return { accepted: count('recorded'), duplicates: count('duplicate'), results };
}

function resultOf(report: Report | InvalidReport, outcome: Outcome | undefined): ReportResult {
  if (report.type === 'invalid') {
    const { id, detail } = report;
    return { id, outcome: 'invalid', run_status: outcome?.run_status ?? null, detail };
  }
  // Only a heartbeat may name no run.
  const withoutRun: Outcome = { outcome: report.run_id === undefined ? 'recorded' : 'unknown_run', run_status: null };
  return { id: report.id ?? null, ...(outcome ?? withoutRun) };
}
