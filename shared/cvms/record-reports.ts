import { timeOf } from 'computation-management-formats/timestamps';
import { openContentStore } from '../rows/content-store.ts';
import { assertExists, keysToChange, parseToChange, recordEvents } from '../rows/change-computation.ts';
import { findComputation } from '../rows/read-computation.ts';
import { referenceTo, type Run, type RunReference, attestationHashOf, findRun, runKey } from '../rows/run.ts';
import { emitMetric } from '../runtime/log.ts';
import { cvmKeys, type RowKey, runKeys } from '../table/keys.ts';
import { deadlineOf, type Table, getItems, type Item } from '../table/table.ts';
import { type Action, Transaction, StaleReadError, withFreshReads } from '../table/transaction.ts';
import { restartProcess } from '../attestation/agent-record.ts';
import { recordToken } from '../attestation/agent-tokens.ts';
import { addAttestationHash } from '../rows/change-run.ts';
import {
  assertClaimed,
  changeClaim,
  type Claim,
  type ClaimChange,
  claimKey,
  parseClaimOf,
  readClaimOfCvm,
} from '../rows/claim.ts';
import { removeCommand } from '../rows/command.ts';
import {
  answeredCommands,
  attestationOf,
  claimChangeOf,
  eventsOf,
  isOfOtherCommand,
  reportedStateOf,
} from './effects-of-reports.ts';
import { completeTask, completeWaitingTasks, type Executions, sendHeartbeat } from '../lifecycle/executions.ts';
import {
  invalidReport,
  type InvalidReport,
  type LastingReport,
  type OrdinaryReport,
  type Outcome,
  type Report,
  type ReportSummary,
  stateEventIdPrefix,
  summaryOf,
  type TokenReport,
} from './report.ts';
import { recordPresence, recordTaken } from '../rows/presence.ts';
import { failRun } from '../lifecycle/end-run.ts';

/** Each report takes up to two of the 100 actions of a transaction. */
const reportsPerTransaction = 40;

interface Batch {
  domain: string;
  cvmId: string;
  reports: (Report | InvalidReport)[];
  now: string;
  by?: string;
}

interface OrdinaryBatch extends Batch {
  reports: (OrdinaryReport | InvalidReport)[];
}

/** A token comes alone in its batch. */
function refusedBesideOthers(report: Report | InvalidReport): OrdinaryReport | InvalidReport {
  return report.type === 'attestation' ? invalidReport(report, '/type: Expected an attestation alone in its batch.') : report;
}

/**
 * Up to 40 reports of a run go in a transaction. Then notifies the execution. A repeated report changes nothing but notifies
 * again. Events after the end of a run are recorded too. Invalid reports and those on other CVMs' runs do not affect the others.
 */
export async function recordReports(table: Table, executions: Executions, batch: Batch): Promise<ReportSummary> {
  const { domain, cvmId, now, by } = batch;
  const heard = { domain, cvmId, now, by };
  const { runs, claimItem, registered } = await readItemsOfBatch(table, batch);
  const [report] = batch.reports;
  if (report?.type === 'attestation' && batch.reports.length === 1) {
    const outcome = await recordTokenOf(table, batch, { report, run: runs[0] });
    await recordPresence(table, heard, registered);
    return summaryOf(batch.reports, new Map([[0, outcome]]));
  }
  const reports = batch.reports.map(refusedBesideOthers);
  const ofOwnRuns = reports.filter(({ run_id }) => run_id === undefined || runs.some(({ id }) => id === run_id));
  const recording = recordForRuns(table, executions, { ...batch, reports }, { runs, claimItem });
  const isReady = ofOwnRuns.some((each) => each.type === 'heartbeat' && each.fit === 'ready');
  if (by === undefined && isReady && registered?.['had_run'] === true) {
    await recording; // the former process may have ended the run
    await restart(table, executions, heard);
  }
  const reported = reportedStateOf(ofOwnRuns);
  const [{ outcomes, acceptedAt }] = await Promise.all([recording, recordPresence(table, heard, registered, reported)]);
  if (acceptedAt !== undefined) await recordTaken(table, heard, { item: registered, acceptedAt, reported });
  return summaryOf(reports, outcomes);
}

/**
 * The run of the former process, if it has a policy, ends: nobody has verified the present one. Then the process changes. A repeat
 * after that changes nothing.
 */
async function restart(table: Table, executions: Executions, { domain, cvmId }: Pick<Batch, 'domain' | 'cvmId'>): Promise<void> {
  const claim = await readClaimOfCvm(table, { domain, cvm_id: cvmId });
  if (claim?.token_hash !== undefined) await failRun(table, executions, claim, restarted);
  await restartProcess(table, { domain, cvmId });
}

const restarted = 'The agent restarted while the run was active.';

async function recordTokenOf(
  table: Table,
  { domain, cvmId, now }: Batch,
  { report, run }: { report: TokenReport; run: Run | undefined },
): Promise<Outcome> {
  if (report.run_id !== undefined && !run) return { outcome: 'unknown_run', run_status: null };
  const store = openContentStore(() => deadlineOf(table));
  const recorded = await recordToken(table, store, { domain, cvmId, run }, report, now);
  return { ...recorded, run_status: run?.status ?? null };
}

function isHeartbeatOfRun(report: Report | InvalidReport): boolean {
  return report.type === 'heartbeat' && report.run_id !== undefined;
}

interface BatchItems {
  /** On this CVM, also in invalid reports, in the order of the reports. */
  runs: Run[];
  claimItem: Item | undefined;
  registered: Item | undefined;
}

async function readItemsOfBatch(table: Table, { domain, cvmId, reports }: Batch): Promise<BatchItems> {
  const ids = new Set(reports.flatMap((report) => ('run_id' in report && report.run_id !== undefined ? [report.run_id] : [])));
  const rows = [...ids].flatMap((id) => {
    const key = runKey(domain, id);
    return key ? [{ id, key }] : [];
  });
  const claims = reports.some(isHeartbeatOfRun) ? [claimKey({ domain, cvm_id: cvmId })] : []; // for other reports it is read later
  const [registered, ...items] = await getItems(table, [cvmKeys.cvm(domain, cvmId), ...claims, ...rows.map(({ key }) => key)]);
  const runs = rows.flatMap(({ id }, index) => {
    const run = findRun(items[claims.length + index], id);
    return run?.cvm_id === cvmId ? [run] : [];
  });
  return { runs, claimItem: claims.length > 0 ? items[0] : undefined, registered };
}

interface Recorded {
  /** By the reports' places in the batch. */
  outcomes: Map<number, Outcome>;
  acceptedAt: string | undefined;
}

async function recordForRuns(
  table: Table,
  executions: Executions,
  { domain, reports, now }: OrdinaryBatch,
  { runs, claimItem }: Pick<BatchItems, 'runs' | 'claimItem'>,
): Promise<Recorded> {
  const outcomes = new Map<number, Outcome>();
  let acceptedAt: string | undefined;
  for (const run of runs) {
    const reference = referenceTo(domain, run);
    const { lasting, heartbeats, invalid } = reportsOf(run, reports);
    let latest: Outcome = { outcome: 'recorded', run_status: run.status };
    for (let start = 0; start < lasting.length; start += reportsPerTransaction) {
      const chunk = lasting.slice(start, start + reportsPerTransaction);
      const ofRun = { reference, reports: chunk.map(({ report }) => report), now };
      const recorded = await withFreshReads(table, (table) => recordLastingReports(table, ofRun));
      acceptedAt = recorded.claim?.accepted_at ?? acceptedAt;
      const isSignOfLife = heartbeats.length > 0 || recorded.outcomes.some(({ outcome }) => outcome !== 'invalid');
      if (recorded.claim && isSignOfLife) await notifyExecution(executions, recorded.claim);
      for (const [index, { place }] of chunk.entries()) {
        const { outcome = 'unknown_run', ...rest } = recorded.outcomes[index] ?? {};
        outcomes.set(place, { outcome, ...rest, run_status: recorded.status });
      }
      latest =
        recorded.status === null ? { outcome: 'unknown_run', run_status: null } : { ...latest, run_status: recorded.status };
    }
    const isHeartbeatAlone = lasting.length === 0 && heartbeats.length > 0;
    const claim = isHeartbeatAlone ? parseClaimOf(reference, claimItem) : undefined;
    if (claim) await notifyExecution(executions, claim);
    for (const place of [...heartbeats, ...invalid]) outcomes.set(place, latest);
  }
  return { outcomes, acceptedAt };
}

/** `place` is that in the batch. */
function reportsOf(run: Run, reports: OrdinaryBatch['reports']) {
  const lasting: { place: number; report: LastingReport }[] = [];
  const heartbeats: number[] = [];
  const invalid: number[] = [];
  for (const [place, report] of reports.entries()) {
    if (report.run_id !== run.id) continue;
    if (report.type === 'invalid') invalid.push(place);
    else if (report.type === 'heartbeat') heartbeats.push(place);
    else lasting.push({ place, report });
  }
  return { lasting, heartbeats, invalid };
}

async function notifyExecution(executions: Executions, claim: Claim): Promise<void> {
  if (claim.outcome) {
    await completeWaitingTasks(executions, claim);
    return;
  }
  if (claim.accepted_at && claim.offer_token) await completeTask(executions, claim.offer_token);
  if (claim.run_token) await sendHeartbeat(executions, claim.run_token);
}

interface ReportsOfRun {
  reference: RunReference;
  /** Up to 40, so that their markers and events fit into a transaction. */
  reports: LastingReport[];
  now: string;
}

interface RecordedOfRun {
  outcomes: Omit<Outcome, 'run_status'>[];
  /** After the reports. null if the run was deleted. */
  status: Run['status'] | null;
  /** Undefined if the run is over. */
  claim: Claim | undefined;
}

/**
 * In one transaction. Reports that have a marker are duplicates. While the run is active, answers to commands of other runs are
 * invalid.
 * @throws StaleReadError if what they depend on has changed since it was read
 */
export async function recordLastingReports(table: Table, { reference, reports, now }: ReportsOfRun): Promise<RecordedOfRun> {
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
