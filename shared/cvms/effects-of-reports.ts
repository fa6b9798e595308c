import {
  type Ending,
  endingEvents,
  endingOf,
  findRun,
  type Run,
  runKey,
  type RunReference,
  waysToEnd,
  type WayToEnd,
} from '../rows/run.ts';
import type { NewEvent } from '../journal/journal.ts';
import { type Claim, type ClaimChange, assertClaimed, claimKey, parseClaimOf, changeClaim } from '../rows/claim.ts';
import { type Command, removeCommand } from '../rows/command.ts';
import type { ReportedState } from '../rows/cvm.ts';
import { type InvalidReport, type Report, type LastingReport, type Outcome, stateEventIdPrefix } from './report.ts';
import { type Table, getItems, type Item } from '../table/table.ts';
import { runKeys, type RowKey } from '../table/keys.ts';
import { keysToChange, parseToChange, recordEvents, assertExists } from '../rows/change-computation.ts';
import { Transaction, type Action, StaleReadError } from '../table/transaction.ts';
import { emitMetric } from '../runtime/log.ts';
import { timeOf } from 'computation-management-formats/timestamps';
import { findComputation } from '../rows/computation.ts';

/**
 * Returns how reports change the claim of their CVM, which is the item that says which run holds the CVM: the time when the run
 * was accepted, and its first outcome. Undefined if the reports change nothing. Any event of the agent counts as acceptance of
 * the run, but for `Stopped/Stopped`: it answers a stop, also of a run that the agent never had.
 */
export function claimChangeOf(reports: (Report | LastingReport)[], claim: Claim, now: string): ClaimChange | undefined {
  const isTaken = reports.some(
    (report) =>
      (report.type === 'event' && eventOf(report) !== 'Stopped/Stopped') ||
      (report.type === 'accepted' && report.command_id === claim.run_command_id),
  );
  const isAccepted = isTaken && claim.accepted_at === undefined;
  const outcome = claim.outcome // defence
    ? undefined
    : reports.map((report) => outcomeOfReport(report, claim)).find((found) => found !== undefined);
  if (!isAccepted && !outcome) return undefined;
  return {
    set: { ...(isAccepted ? { accepted_at: now } : {}), ...(outcome ? { outcome } : {}) },
    unless: outcome ? ['outcome'] : [], // defence
  };
}

/** Tells whether a report answers a command of another run than the one that holds the CVM. */
function isOfOtherCommand(report: Report, { run_command_id, stop_command_id }: Claim): boolean {
  return 'command_id' in report && report.command_id !== run_command_id && report.command_id !== stop_command_id;
}

/** Lists the kinds of commands that reports of a CVM answer. Answered commands are not delivered again. */
export function answeredCommands(reports: Report[], claim: Claim): Command['type'][] {
  const answeredIds = new Set(reports.map((report) => ('command_id' in report ? report.command_id : '')));
  const answered: Command['type'][] = [];
  if (answeredIds.has(claim.run_command_id) || reports.some((report) => report.type === 'event')) answered.push('run');
  if (answeredIds.has(claim.stop_command_id)) answered.push('stop');
  return answered;
}

/**
 * Returns the events that reports of a CVM add to the journal of their run: one for each event of the agent.
 * @param isActive false: the events are recorded, but do not become the computation's status
 */
function eventsOf(reports: Report[], run: Run, isActive: boolean): NewEvent[] {
  const ofRun = { run_id: run.id, cvm_id: run.cvm_id };
  return reports.flatMap((report): NewEvent[] => {
    if (report.type !== 'event') return [];
    const { event_type, status, originator } = report;
    const details = report.details ? Buffer.from(report.details, 'base64') : detailsOf(report);
    return [{ event_type, status, originator, ...ofRun, details, lifecycle: isActive }];
  });
}

function detailsOf({ occurred_at, reason }: Report & { type: 'event' }): Record<string, string> {
  return { ...(occurred_at ? { occurred_at } : {}), ...(reason ? { reason } : {}) }; // defence
}

/**
 * Returns what the heartbeats of a CVM report of its agent: the state, and whether the agent can take a run. The last heartbeat
 * with each property counts.
 */
export function reportedStateOf(reports: (Report | InvalidReport)[]): ReportedState {
  const state: ReportedState = {};
  for (const report of reports) {
    if (report.type !== 'heartbeat') continue;
    state.agent_state = report.agent_state ?? state.agent_state;
    state.fit = report.fit ?? state.fit;
  }
  return state;
}

/**
 * Returns how a report of a CVM ends its run (docs/contract.md, section 6). Undefined for reports that do not end the run, such
 * as the `Running/Failed` of an agent after a stop.
 */
function outcomeOfReport(report: Report | LastingReport, claim: Claim): Ending | undefined {
  const way = wayOfReport(report, claim);
  const reason = 'reason' in report ? report.reason : undefined;
  const reason_code = 'reason_code' in report ? report.reason_code : undefined;
  if (!way) return undefined;
  const ending = endingOf(way, claim.stop_token === undefined ? 'running' : 'stopping', reason);
  return reason_code === undefined ? ending : { ...ending, reason_code };
}

const eventOf = ({ event_type, status }: Report & { type: 'event' }) => `${event_type}/${status}`;

function wayOfReport(report: Report, { run_command_id, stop_command_id, stop_token }: Claim): WayToEnd | undefined {
  const ways = waysToEnd.recordReports;
  if (report.type === 'rejected') {
    if (report.command_id === run_command_id) return ways.runRejected;
    return report.command_id === stop_command_id ? ways.stopRejected : undefined;
  }
  if (report.type !== 'event') return undefined;
  const event = endingEvents.find((each) => each === eventOf(report));
  if (event === 'Stopped/Stopped' && stop_token !== undefined) return ways.stopped;
  return event && ways[event];
}

/** Reports on one run that are recorded in one transaction. */
interface ReportsOfRun {
  reference: RunReference;
  /** The reports on one run, up to 40, so that their markers and events fit into a transaction. */
  reports: LastingReport[];
  now: string;
}

/** The results of the reports on one run. */
interface RecordedOfRun {
  outcomes: Omit<Outcome, 'run_status'>[];
  /** The status of the run after the reports. Null if the run was deleted. */
  status: Run['status'] | null;
  /** The claim after the reports were recorded: the item that says that the run holds its CVM. Undefined if the run is over. */
  claim: Claim | undefined;
}

/**
 * Records reports on one run in one transaction: their events, the acceptance or the outcome of the run, and a marker for each
 * report, an item with its identifier. Reports that have a marker are duplicates. While the run is active, answers to commands of
 * other runs are invalid.
 * @throws StaleReadError if what they depend on has changed since it was read
 */
export async function recordLastingReports(table: Table, { reference, reports, now }: ReportsOfRun): Promise<RecordedOfRun> {
  const { domain, computation_id, run_id } = reference;
  const markers = [...new Set(reports.map((report) => report.id))].map((id) => runKeys.report(computation_id, run_id, id));
  const keys = [...keysToChange(domain, computation_id), ...progressKeys(reference)];
  const items = await getItems(table, [...keys, ...markers]);
  const [row, head, ...progressItems] = items;
  const { run, claim } = parseProgress(reference, progressItems);
  if (!run || !findComputation(row, computation_id)) {
    return { outcomes: reports.map(() => ({ outcome: 'unknown_run' })), status: null, claim: undefined };
  }
  const outcomes = outcomesOf(reports, reference, claim, items.slice(keys.length));
  const newReports = reports.filter((_, index) => outcomes[index]?.outcome === 'recorded');
  if (newReports.length === 0) return { outcomes, status: run.status, claim };

  const transaction = new Transaction();
  for (const report of newReports) transaction.add(marker(report, reference, now));
  const events = eventsOf(newReports, run, claim !== undefined);
  const computation = parseToChange(domain, computation_id, [row, head]);
  if (events.length > 0) await recordEvents(table, transaction, computation, events, now);
  else assertExists(transaction, domain, computation_id);
  const change = claim && takeIntoClaim(transaction, reference, claim, { reports: newReports, now });
  if (claim && !change && events.length > 0) assertClaimed(transaction, claim); // nothing is kept as the run's after the run's end
  await transaction.commit(table);

  emitMetrics(newReports, claim, change, now);
  if (!change) return { outcomes, status: run.status, claim };
  // Read again: before the execution could see this outcome, it may have stored another token in the claim.
  const after = parseProgress(reference, await getItems(table, progressKeys(reference)));
  return { outcomes, status: after.run?.status ?? null, claim: after.claim };
}

function progressKeys(reference: RunReference): RowKey[] {
  return [runKey(reference.domain, reference.run_id), claimKey(reference)];
}

function parseProgress(
  reference: RunReference,
  [runItem, claimItem]: (Item | undefined)[], // other items may follow
): { run: Run | undefined; claim: Claim | undefined } {
  return { run: findRun(runItem, reference.run_id), claim: parseClaimOf(reference, claimItem) };
}

/**
 * Adds to the transaction the acceptance or the outcome of a run, as reports of its CVM say, and removes the commands that the
 * reports answer.
 */
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

/**
 * The lifetime in seconds of the marker that makes a repeated report a duplicate. A CVM or its gateway does not repeat a report
 * for as long.
 */
const markerLifetimeInSeconds = 30 * dayInSeconds;

/**
 * The lifetime in seconds of the marker of a report on an event that occurs once in a run. It is longer than a run can last: a
 * CVM may stay in a state for months, and a gateway that starts then reports the event again.
 */
const stateMarkerLifetimeInSeconds = 400 * dayInSeconds;

/**
 * Returns the action that marks a report of a CVM as recorded. The transaction throws StaleReadError if a report with the same
 * identifier was recorded since the last read.
 */
function marker(report: LastingReport, { computation_id, run_id }: RunReference, seen_at: string): Action {
  const lifetime = report.id.startsWith(stateEventIdPrefix) ? stateMarkerLifetimeInSeconds : markerLifetimeInSeconds;
  const ttl = Math.ceil(Date.parse(seen_at) / 1_000) + lifetime;
  const Item = { ...runKeys.report(computation_id, run_id, report.id), seen_at, ttl };
  return { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: StaleReadError };
}

/**
 * Emits the metrics of recorded reports: the time until the CVM accepted the run, and the age of the oldest event by the
 * reporter's clock.
 */
function emitMetrics(reports: LastingReport[], claim: Claim | undefined, change: ClaimChange | undefined, now: string): void {
  if (claim && change?.set.accepted_at) emitMetric('TimeToAccept', Date.parse(now) - Date.parse(claim.claimed_at));
  const lags = reports.flatMap((report) =>
    report.type === 'event' && report.occurred_at ? [Date.parse(now) - timeOf(report.occurred_at)] : [],
  );
  if (lags.length > 0) emitMetric('ReportLag', Math.max(0, ...lags));
}

const invalid = { outcome: 'invalid', detail: '/command_id: Expected the identifier of a command of this run.' } as const;

/**
 * Decides which of the reports on a run are new, duplicates or invalid. Of several reports with the same identifier, only the
 * first is recorded.
 */
function outcomesOf(
  reports: LastingReport[],
  { computation_id, run_id }: RunReference,
  claim: Claim | undefined,
  markers: (Item | undefined)[],
): RecordedOfRun['outcomes'] {
  const seen = new Set(markers.map((item) => item?.['sk']));
  return reports.map((report) => {
    const { sk } = runKeys.report(computation_id, run_id, report.id);
    if (seen.has(sk)) return { outcome: 'duplicate' };
    if (claim && isOfOtherCommand(report, claim)) return invalid;
    seen.add(sk);
    return { outcome: 'recorded' };
  });
}
