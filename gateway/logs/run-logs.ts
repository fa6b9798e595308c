import type { RunReference } from '../../shared/runs/run-reference.ts';
import type { AgentLog } from '../wire/messages.ts';

/** Where the logs of agents go. They never go into the journal. */
export interface RunLogs {
  /** Keeps a line of a run's log. @returns false if the run has reached its limit */
  write: (run: RunReference, line: AgentLog) => boolean;
  /** The run is over, and so is its log. */
  end: (runId: string) => unknown;
  close: () => Promise<void>;
}

/** The most that is kept of the log of one run, in bytes. */
export const mostBytesPerRun = 8 * 1024 * 1024;
