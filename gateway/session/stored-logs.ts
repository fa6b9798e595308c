import type { RunReference } from '../../shared/rows/run.ts';
import { type LogLine, sizeOfLines } from '../../shared/rows/log-lines.ts';
import { log } from '../../shared/runtime/log.ts';
import { timeOf } from '../wire/messages.ts';
import { keptOf, lastLine, mostBytesPerRun, type RunLogs } from './run-logs.ts';
import type { GatewayService } from './service.ts';
import type { Clock } from '../../shared/runtime/deadline.ts';

/**
 * The longest time in milliseconds that a line of a run's log waits to be stored in the table. People then see a line within 5
 * seconds.
 */
const longestBufferInMilliseconds = 2_000;
const largestChunkInBytes = 64 * 1024;
/** The number of bytes of a stored log that are kept free for the line that says that the log ends. */
const spaceOfEnd = 1_024;

/** The largest number of bytes of a run's log that wait while the table does not answer. Further lines are left out. */
const largestBufferInBytes = 2 * 1024 * 1024;

interface Log {
  run: RunReference;
  /** True if the parties of the run may read its log. Undefined until that was read; false too once the log is full. */
  isShared: boolean | undefined;
  lines: LogLine[];
  buffered: number;
  /** The number of bytes that all gateways together have stored of the log of a run. */
  stored: number;
  timer: NodeJS.Timeout | undefined;
  work: Promise<void>;
}

/**
 * Returns the logs that store the lines of each run in the table if its parties may read them, and pass all lines on to other
 * logs.
 */
export function storedRunLogs(others: RunLogs, service: Pick<GatewayService, 'logState' | 'storeLines'>, clock: Clock): RunLogs {
  const logs = new Map<string, Log>();
  let parts = 0;
  const openLog = (run: RunReference): Log => {
    const empty = { lines: [], buffered: 0, stored: 0, timer: undefined, work: Promise.resolve() };
    const opened: Log = { run, isShared: undefined, ...empty };
    logs.set(run.run_id, opened);
    return opened;
  };
  const store = async (of: Log): Promise<void> => {
    if (of.isShared === undefined) {
      const { isShared, bytes } = await service.logState(of.run);
      of.isShared = isShared;
      of.stored = bytes;
    }
    while (of.isShared && of.lines.length > 0 && of.stored < mostBytesPerRun) {
      const lines = of.lines.slice(0, countOfChunk(of.lines));
      const [size, left] = [sizeOfLines(lines), mostBytesPerRun - of.stored];
      const isLast = size > left - spaceOfEnd;
      const end = lines.slice(0, 1).map((line) => ({ ...line, level: 'warn', message: lastLine }));
      const given = isLast ? { lines: end, size_in_bytes: left } : { lines, size_in_bytes: size };
      await service.storeLines(of.run, { ...given, at: clock.now(), part: String(parts++).padStart(9, '0') });
      of.stored += given.size_in_bytes;
      of.lines.splice(0, lines.length);
      of.buffered = sizeOfLines(of.lines);
    }
    if (of.stored >= mostBytesPerRun) of.isShared = false;
    if (!of.isShared) of.lines = [];
  };
  const flush = (of: Log): Promise<void> => {
    clearTimeout(of.timer);
    of.timer = undefined;
    of.work = of.work
      .then(() => store(of))
      .catch((error: unknown) => {
        log('WARN', 'A part of the log of a run was not stored.', { run_id: of.run.run_id }, error);
        of.timer ??= setTimeout(() => void flush(of), longestBufferInMilliseconds);
      });
    return of.work;
  };
  const take = (of: Log, line: LogLine): boolean => {
    if (of.isShared === false) return true;
    if (of.buffered > largestBufferInBytes) return false;
    of.buffered += sizeOfLines([line]);
    of.lines.push(line);
    if (of.buffered >= largestChunkInBytes) void flush(of);
    else of.timer ??= setTimeout(() => void flush(of), longestBufferInMilliseconds);
    return true;
  };
  const end = async (runId: string) => {
    const of = logs.get(runId);
    if (!of) return;
    await flush(of);
    if (of.lines.length === 0 && of.timer === undefined) logs.delete(runId);
  };
  return {
    write: (run, line) => {
      const { text: message, level } = keptOf(line);
      const time = timeOf(line.timestamp) ?? new Date(clock.now()).toISOString();
      const isTaken = take(logs.get(run.run_id) ?? openLog(run), { time, level: level.toLowerCase(), message });
      return others.write(run, line) && isTaken;
    },
    end: (runId) => {
      void end(runId);
      others.end(runId);
    },
    close: async () => {
      await Promise.all([...logs.values()].map(flush));
      for (const { timer } of logs.values()) clearTimeout(timer);
      await others.close();
    },
  };
}

function countOfChunk(lines: readonly LogLine[]): number {
  let size = 0;
  const end = lines.findIndex((line) => (size += sizeOfLines([line])) > largestChunkInBytes);
  return end < 0 ? lines.length : Math.max(1, end);
}
