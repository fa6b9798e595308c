import type { Run } from '../computations/run.ts';
import type { NewEvent } from '../events/event.ts';
import type { Claim, ClaimChange } from './claim.ts';
import type { Command } from './commands.ts';
import type { ReportedState } from './presence.ts';
import type { InvalidReport, Report } from './report.ts';
import type { Ending } from './ways-to-end.ts';

/** Returns the change that the reports make to the claim. Any event of the agent counts as acceptance of the run. */
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

/** Returns whether the report answers a command that the run does not have. */
export function isOfOtherCommand(report: Report, { run_command_id, stop_command_id }: Claim): boolean {
  return 'command_id' in report && report.command_id !== run_command_id && report.command_id !== stop_command_id;
}

/** Returns the commands that the reports answer. They are not delivered again. */
export function answeredCommands(reports: Report[], claim: Claim): Command['type'][] {
  const answeredIds = new Set(reports.map((report) => ('command_id' in report ? report.command_id : '')));
  const answered: Command['type'][] = [];
  if (answeredIds.has(claim.run_command_id) || reports.some((report) => report.type === 'event')) answered.push('run');
  if (answeredIds.has(claim.stop_command_id)) answered.push('stop');
  return answered;
}

/**
 * Returns the events in the reports.
 * @param isActive whether the run is active. Events after its end are recorded, but do not become the computation's status.
 */
export function eventsOf(reports: Report[], run: Run, isActive: boolean): NewEvent[] {
  return reports.flatMap((report) => {
    if (report.type !== 'event') return [];
    const { event_type, status, originator } = report;
    const details = report.details ? Buffer.from(report.details, 'base64') : detailsOf(report);
    return [{ event_type, status, originator, run_id: run.id, cvm_id: run.cvm_id, details, lifecycle: isActive }];
  });
}

/** The details of an event that came without any. */
function detailsOf({ occurred_at, reason }: Report & { type: 'event' }): Record<string, string> {
  return { ...(occurred_at ? { occurred_at } : {}), ...(reason ? { reason } : {}) };
}

/** Returns the hash of the CVM's attestation in the report that accepts the run. */
export function attestationOf(reports: Report[], claim: Claim): string | undefined {
  for (const report of reports) {
    if (report.type === 'accepted' && report.command_id === claim.run_command_id && report.attestation_hash) {
      return report.attestation_hash;
    }
  }
  return undefined;
}

/** Returns what the CVM says about itself in its heartbeats. The last report of each property counts. */
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
 * Returns the outcome that a report contains (docs/contract.md, section 6). Runs end with ready results, a failure, a stop or a
 * rejection. All other reports, such as the `Running/Failed` of an agent after a stop, return undefined.
 */
export function outcomeOfReport(report: Report, claim: Claim): Ending | undefined {
  switch (report.type) {
    case 'event':
      return because(report.reason, outcomeOfEvent(`${report.event_type}/${report.status}`, claim));
    case 'rejected':
      if (report.command_id === claim.run_command_id)
        return { status: 'failed', reason: withReason('The CVM rejected the run', report.reason) };
      if (report.command_id !== claim.stop_command_id) return undefined;
      return {
        status: 'cancelled',
        reason: withReason('Stopped; the CVM rejected the stop', report.reason),
        is_confirmed: false,
      };
    case 'accepted':
    case 'heartbeat':
      return undefined;
  }
}

/** The CVM's own reason says more than the service's. */
function because(reason: string | undefined, ending: Ending | undefined): Ending | undefined {
  return ending && reason ? { ...ending, reason } : ending;
}

/** The events of an agent, as `type/status`, that end its run. */
export const endingEvents = ['ConsumingResults/Ready', 'Complete/Completed', 'Failed/Failed', 'Stopped/Stopped'] as const;

const endingEvent = (event: string) => endingEvents.find((each) => each === event);

function outcomeOfEvent(event: string, claim: Claim): Ending | undefined {
  switch (endingEvent(event)) {
    case 'ConsumingResults/Ready':
    case 'Complete/Completed':
      return { status: 'completed', reason: 'The CVM finished the run.' };
    case 'Failed/Failed':
      return { status: 'failed', reason: 'The CVM failed.' };
    case 'Stopped/Stopped':
      return {
        status: 'cancelled',
        reason: claim.stop_token === undefined ? 'The CVM stopped without a request.' : 'Stopped; the CVM confirmed it.',
        is_confirmed: true,
      };
    case undefined:
      return undefined;
  }
}

function withReason(text: string, reason: string): string {
  return reason ? `${text}: ${reason}` : `${text}.`;
}
