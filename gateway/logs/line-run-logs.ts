import { writeLine } from '../../shared/logger.ts';
import { timeOf } from '../reports/wire-time.ts';
import { mostBytesPerRun, type RunLogs } from './run-logs.ts';

/** In characters. Agents send lines of up to 500 bytes. Fargate cuts entries of more than 16 KB, which no query could read then. */
const longestLine = 2_500;

/** In characters. Those of the real agent have 5 at most. */
const longestLevel = 20;

/** Runs whose logs are measured. */
const mostRuns = 10_000;

/**
 * Writes the logs of runs to standard output, which goes to CloudWatch, one line of JSON each, up to 8 MiB a run. A run is measured
 * for longer than it is at this gateway, because its CVM may come back.
 */
export function lineRunLogs(): RunLogs {
  const bytes = new Map<string, number>();
  return {
    write: ({ domain, cvm_id, run_id, computation_id }, { message, level: givenLevel, timestamp }) => {
      const text = message.slice(0, longestLine).trimEnd();
      const level = givenLevel.slice(0, longestLevel);
      const written = (bytes.get(run_id) ?? 0) + Buffer.byteLength(JSON.stringify({ level, text })) + 200;
      if (written > mostBytesPerRun) return false;
      bytes.delete(run_id);
      bytes.set(run_id, written); // the last one now
      for (const first of bytes.keys()) {
        if (bytes.size <= mostRuns) break;
        bytes.delete(first);
      }
      writeLine({ log: 'agent', level, message: text, timestamp: timeOf(timestamp), domain, computation_id, run_id, cvm_id });
      return true;
    },
    end: () => undefined,
    close: () => Promise.resolve(),
  };
}
