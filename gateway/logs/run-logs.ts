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

/** A log of so many bytes takes no more line, so that the longest one, and the one that says so, fit into the rest. */
export const fullAtBytes = mostBytesPerRun - 32 * 1024;

/** The last line of a log that is full. */
export const lastLine = 'The log ends here: it has reached 8 MiB.';

/** What an agent logs whenever the gateway asks for its state. Some five days of these lines would fill a log. */
const ofQuestion = /^Method State took \S+ to complete with state \w+$/;

/** Whether a line only says that the gateway has asked for the agent's state. No log keeps it. */
export function isOfQuestion({ message }: AgentLog): boolean {
  return ofQuestion.test(message);
}

/** The characters that are kept of a line. Agents send up to 500 bytes. Fargate cuts entries of more than 16 KB: no query could read them. */
const longestLine = 2_500;

/** The characters that are kept of a level. Those of the real agent have 5 at most. */
const longestLevel = 20;

/** The parts of a line that are kept. */
export function keptOf({ message, level }: AgentLog): { text: string; level: string } {
  return { text: message.slice(0, longestLine).trimEnd(), level: level.slice(0, longestLevel) };
}
