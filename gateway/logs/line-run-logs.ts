import { writeLine } from '../../shared/logger.ts';
import { timeOf } from '../reports/wire-time.ts';
import { mostBytesPerRun, type RunLogs } from './run-logs.ts';

/** In characters. Agents send lines of up to 500 bytes. Fargate cuts entries of more than 16 KB, which no query could read then. */
const longestLine = 2_500;

/** Writes the logs of runs to standard output, which goes to CloudWatch, one line of JSON each, up to 8 MiB a run. */
export function lineRunLogs(): RunLogs {
  const bytes = new Map<string, number>();
  return {
    write: ({ domain, cvm_id, run_id, computation_id }, { message, level, timestamp }) => {
      const text = message.slice(0, longestLine).trimEnd();
      const written = (bytes.get(run_id) ?? 0) + Buffer.byteLength(JSON.stringify(text)) + 200;
      if (written > mostBytesPerRun) return false;
      bytes.set(run_id, written);
      writeLine({ log: 'agent', level, message: text, timestamp: timeOf(timestamp), domain, computation_id, run_id, cvm_id });
      return true;
    },
    end: (runId) => bytes.delete(runId),
    close: () => Promise.resolve(),
  };
}
