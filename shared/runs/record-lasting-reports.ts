import { timeOf } from 'computation-management-formats/timestamps';
import { assertExists, keysToChange, parseToChange, recordEvents } from '../computations/change-computation.ts';
import { findComputation } from '../computations/read-computation.ts';
import { attestationHashOf, findRun, runKey } from '../computations/read-runs.ts';
import type { Run, RunReference } from '../computations/run.ts';
import { emitMetric } from '../runtime/metrics.ts';
import { StaleReadError } from '../table/fresh-reads.ts';
import { runKeys, type RowKey } from '../table/keys.ts';
import { getItems, type Item, type Table } from '../table/table.ts';
import { type Action, Transaction } from '../table/transaction.ts';
import { addAttestationHash } from './change-run.ts';
import { assertClaimed, changeClaim, claimKey, parseClaimOf, type Claim, type ClaimChange } from './claim.ts';
import { removeCommand } from './commands.ts';
import { answeredCommands, attestationOf, claimChangeOf, eventsOf, isOfOtherCommand } from './effects-of-reports.ts';
import { stateEventIdPrefix, type LastingReport, type Outcome } from './report.ts';

interface ReportsOfRun {
  reference: RunReference;
  /** Up to 40, so that their markers and events fit into a transaction. */
  reports: LastingReport[];
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

interface Recorded {
  /** In the order of the reports. */
  outcomes: Omit<Outcome, 'run_status'>[];
  /** After the reports. null if the run was deleted. */
  status: Run['status'] | null;
  /** Undefined if the run is over. */
  claim: Claim | undefined;
}

/**
 * Records reports of one run in one transaction. Those that have a marker are duplicates. While the run is active, answers to
 * commands of other runs are invalid.
 * @throws StaleReadError if what they depend on has changed since it was read
 */
export async function recordLastingReports(table: Table, { reference, reports, now }: ReportsOfRun): Promise<Recorded> {
  const { domain, computation_id, run_id } = reference;
  const markers = [...new Set(reports.map((report) => report.id))].map((id) => runKeys.report(computation_id, run_id, id));
  const keys = [...keysToChange(domain, computation_id), ...progressKeys(reference)];
  const items = await getItems(table, [...keys, ...markers]);
  const [row, head, ...progressItems] = items;
  const { run, claim, attestation: kept } = parseProgress(reference, progressItems);
  if (!run || !findComputation(row, computation_id)) {
    return { outcomes: reports.map(() => ({ outcome: 'unknown_run' })), status: null, claim: undefined };
  }
  const outcomes = outcomesOf(reports, reference, claim, items.slice(keys.length));
  const newReports = reports.filter((_, index) => outcomes[index]?.outcome === 'recorded');
  if (newReports.length === 0) return { outcomes, status: run.status, claim };

  const transaction = new Transaction();
  for (const report of newReports) transaction.add(marker(report, reference, now));
  const attestation = claim && attestationOf(newReports, claim);
  const events = eventsOf(newReports, run, claim !== undefined, kept ?? attestation);
  const computation = parseToChange(domain, computation_id, [row, head]);
  if (events.length > 0) await recordEvents(table, transaction, computation, events, now);
  else assertExists(transaction, domain, computation_id);
  const change = claim && takeIntoClaim(transaction, reference, claim, { reports: newReports, now });
  if (attestation !== undefined && kept === undefined) addAttestationHash(transaction, domain, run_id, attestation);
  const isOfRun = events.length > 0 || attestation !== undefined;
  if (claim && !change && isOfRun) assertClaimed(transaction, claim); // nothing is kept as the run's after the run's end
  await transaction.commit(table);

  emitMetrics(newReports, claim, change, now);
  if (!change) return { outcomes, status: run.status, claim };
  // Read again: before the execution could see this outcome, it may have stored another token in the claim.
  const after = parseProgress(reference, await getItems(table, progressKeys(reference)));
  return { outcomes, status: after.run?.status ?? null, claim: after.claim };
}

function progressKeys(reference: RunReference): RowKey[] {
  const rowKey = runKey(reference.domain, reference.run_id);
  if (!rowKey) throw new Error('This service cannot have issued the identifier of a run that it has read.');
  return [rowKey, claimKey(reference)];
}

function parseProgress(
  reference: RunReference,
  [runItem, claimItem]: (Item | undefined)[], // other items may follow
): { run: Run | undefined; claim: Claim | undefined; attestation: string | undefined } {
  const run = findRun(runItem, reference.run_id);
  return { run, claim: parseClaimOf(reference, claimItem), attestation: run && attestationHashOf(runItem) };
}

/** Adds what the reports change of an active run. @returns the change of its claim */
function takeIntoClaim(
  transaction: Transaction,
  reference: RunReference,
  claim: Claim,
  { reports, now }: Pick<ReportsOfRun, 'reports' | 'now'>,
): ClaimChange | undefined {
  const change = claimChangeOf(reports, claim, now);
  if (change) changeClaim(transaction, claim, change);
  for (const type of answeredCommands(reports, claim)) removeCommand(transaction, reference, type);
  return change;
}

const dayInSeconds = 24 * 3_600;
/** Longer than a CVM or its gateway repeats a report. */
const markerLifetimeInSeconds = 30 * dayInSeconds;
/** Longer than a run can last. A CVM may stay in a state for months, and a gateway that starts then reports its event again. */
const stateMarkerLifetimeInSeconds = 400 * dayInSeconds;

/** Throws StaleReadError if a report with this identifier was recorded since the last read. */
function marker(report: LastingReport, { computation_id, run_id }: RunReference, seen_at: string): Action {
  const lifetime = report.id.startsWith(stateEventIdPrefix) ? stateMarkerLifetimeInSeconds : markerLifetimeInSeconds;
  const ttl = Math.ceil(Date.parse(seen_at) / 1_000) + lifetime;
  const Item = { ...runKeys.report(computation_id, run_id, report.id), seen_at, ttl };
  return { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() };
}

/** The time until the CVM accepted, and the age of the oldest event by the reporter's clock. */
function emitMetrics(reports: LastingReport[], claim: Claim | undefined, change: ClaimChange | undefined, now: string): void {
  if (claim && change?.set.accepted_at) emitMetric('TimeToAccept', Date.parse(now) - Date.parse(claim.claimed_at));
  const lags = reports.flatMap((report) =>
    report.type === 'event' && report.occurred_at ? [Date.parse(now) - timeOf(report.occurred_at)] : [],
  );
  if (lags.length > 0) emitMetric('ReportLag', Math.max(0, ...lags));
}

const invalid = { outcome: 'invalid', detail: '/command_id: Expected the identifier of a command of this run.' } as const;

/** Of several with the same identifier, only the first is recorded. */
function outcomesOf(
  reports: LastingReport[],
  { computation_id, run_id }: RunReference,
  claim: Claim | undefined,
  markers: (Item | undefined)[],
): Recorded['outcomes'] {
  const seen = new Set(markers.map((item) => item?.['sk']));
  return reports.map((report) => {
    const { sk } = runKeys.report(computation_id, run_id, report.id);
    if (seen.has(sk)) return { outcome: 'duplicate' };
    if (claim && isOfOtherCommand(report, claim)) return invalid;
    seen.add(sk);
    return { outcome: 'recorded' };
  });
}
