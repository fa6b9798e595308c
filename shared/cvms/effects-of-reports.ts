import type { Run } from '../rows/run.ts';
import type { NewEvent } from '../journal/event.ts';
import type { Claim, ClaimChange } from '../rows/claim.ts';
import type { Command } from '../rows/command.ts';
import type { ReportedState } from '../rows/presence.ts';
import type { InvalidReport, Report } from './report.ts';
import { type Ending, endingEvents, endingOf, waysToEnd, type WayToEnd } from '../rows/ways-to-end.ts';

/** Any event of the agent counts as acceptance of the run. */
export function claimChangeOf(reports: Report[], claim: Claim, now: string): ClaimChange | undefined {
  const isTaken = reports.some(
    (report) => report.type === 'event' || (report.type === 'accepted' && report.command_id === claim.run_command_id),
  );
  const isAccepted = isTaken && claim.accepted_at === undefined;
  const outcome = claim.outcome
    ? undefined
    : reports.map((report) => outcomeOfReport(report, claim)).find((found) => found !== undefined);
  if (!isAccepted && !outcome) return undefined;
  return {
    set: { ...(isAccepted ? { accepted_at: now } : {}), ...(outcome ? { outcome } : {}) },
    unless: outcome ? ['outcome'] : [],
  };
}

export function isOfOtherCommand(report: Report, { run_command_id, stop_command_id }: Claim): boolean {
  return 'command_id' in report && report.command_id !== run_command_id && report.command_id !== stop_command_id;
}

/** Answered commands are not delivered again. */
export function answeredCommands(reports: Report[], claim: Claim): Command['type'][] {
  const answeredIds = new Set(reports.map((report) => ('command_id' in report ? report.command_id : '')));
  const answered: Command['type'][] = [];
  if (answeredIds.has(claim.run_command_id) || reports.some((report) => report.type === 'event')) answered.push('run');
  if (answeredIds.has(claim.stop_command_id)) answered.push('stop');
  return answered;
}

/**
 * With each attestation other than that of the run.
 * @param attestation the hash that the run keeps
 * @param isActive false: the events are recorded, but do not become the computation's status
 */
export function eventsOf(reports: Report[], run: Run, isActive: boolean, attestation?: string): NewEvent[] {
  const ofRun = { run_id: run.id, cvm_id: run.cvm_id };
  return reports.flatMap((report): NewEvent[] => {
    if (report.type === 'event') {
      const { event_type, status, originator } = report;
      const details = report.details ? Buffer.from(report.details, 'base64') : detailsOf(report);
      return [{ event_type, status, originator, ...ofRun, details, lifecycle: isActive }];
    }
    if (report.type !== 'accepted' || !report.attestation_hash || report.attestation_hash === attestation) return [];
    const details = { attestation_hash: report.attestation_hash };
    return [{ event_type: 'Attestation', status: 'Received', originator: 'agent', ...ofRun, details, lifecycle: isActive }];
  });
}

function detailsOf({ occurred_at, reason }: Report & { type: 'event' }): Record<string, string> {
  return { ...(occurred_at ? { occurred_at } : {}), ...(reason ? { reason } : {}) };
}

export function attestationOf(reports: Report[], claim: Claim): string | undefined {
  for (const report of reports) {
    if (report.type === 'accepted' && report.command_id === claim.run_command_id && report.attestation_hash) {
      return report.attestation_hash;
    }
  }
  return undefined;
}

/** The last heartbeat with each property counts. */
export function reportedStateOf(reports: (Report | InvalidReport)[]): ReportedState {
  const state: ReportedState = {};
  for (const report of reports) {
    if (report.type !== 'heartbeat') continue;
    state.agent_state = report.agent_state ?? state.agent_state;
    state.fit = report.fit ?? state.fit;
  }
  return state;
}

/** docs/contract.md, section 6. Undefined for others, such as the `Running/Failed` of an agent after a stop. */
function outcomeOfReport(report: Report, claim: Claim): Ending | undefined {
  const way = wayOfReport(report, claim);
  const reason = 'reason' in report ? report.reason : undefined;
  return way && endingOf(way, claim.stop_token === undefined ? 'running' : 'stopping', reason);
}

function wayOfReport(report: Report, { run_command_id, stop_command_id, stop_token }: Claim): WayToEnd | undefined {
  const ways = waysToEnd.recordReports;
  if (report.type === 'rejected') {
    if (report.command_id === run_command_id) return ways.runRejected;
    return report.command_id === stop_command_id ? ways.stopRejected : undefined;
  }
  if (report.type !== 'event') return undefined;
  const event = endingEvents.find((each) => each === `${report.event_type}/${report.status}`);
  if (event === 'Stopped/Stopped' && stop_token !== undefined) return ways.stopped;
  return event && ways[event];
}
