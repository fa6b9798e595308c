import type { Claim } from './claim.ts';
import type { Ending } from './ending.ts';
import type { Report } from './report.ts';

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
