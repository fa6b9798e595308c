import { writeLine } from '../../shared/logger.ts';
import { timeOf } from '../reports/wire-time.ts';
import { fullAtBytes, keptOf, lastLine, type RunLogs } from './run-logs.ts';

/** The most runs whose logs are measured. */
const mostRuns = 10_000;

/** The size of the other fields of a log line, in bytes. */
const fieldsOfLine = 200;

/**
 * Writes the logs of runs to standard output, which goes to CloudWatch, one line of JSON each, up to 8 MiB a run. A run is measured
 * for longer than it is at this gateway, because its CVM may come back.
 */
export function lineRunLogs(): RunLogs {
  const bytes = new Map<string, number>();
  return {
    write: ({ domain, cvm_id, run_id, computation_id }, line) => {
      const before = bytes.get(run_id) ?? 0;
      if (before >= fullAtBytes) return false;
      const { text, level } = keptOf(line);
      const written = before + Buffer.byteLength(JSON.stringify({ level, text })) + fieldsOfLine;
      bytes.delete(run_id);
      bytes.set(run_id, written); // the last one now
      for (const first of bytes.keys()) {
        if (bytes.size <= mostRuns) break;
        bytes.delete(first);
      }
      const timestamp = timeOf(line.timestamp);
      const fields = { timestamp, domain, computation_id, run_id, cvm_id };
      writeLine({ log: 'agent', level, message: text, ...fields });
      if (written >= fullAtBytes) writeLine({ log: 'agent', level: 'WARN', message: lastLine, ...fields });
      return true;
    },
    end: () => undefined,
    close: () => Promise.resolve(),
  };
}
