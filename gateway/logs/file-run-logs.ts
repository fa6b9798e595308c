import { createWriteStream, mkdirSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { log } from '../../shared/logger.ts';
import { timeOf } from '../reports/wire-time.ts';
import type { RunReference } from '../../shared/runs/run-reference.ts';
import { fullAtBytes, keptOf, lastLine, type RunLogs } from './run-logs.ts';

interface LogFile {
  stream: WriteStream;
  bytes: number;
}

/** Writes the log of each run into a file of its own, `<directory>/<domain>/<runID>.log`, up to 8 MiB. */
export function fileRunLogs(directory: string): RunLogs {
  const open = new Map<string, LogFile>();
  let isFailing = false;
  const fail = (error: unknown) => {
    if (!isFailing) log('ERROR', 'The log of a run cannot be written.', { directory }, error);
    isFailing = true;
  };
  const openFile = ({ domain, run_id: runId }: RunReference): LogFile => {
    mkdirSync(join(directory, domain), { recursive: true });
    const path = join(directory, domain, `${runId}.log`);
    const stream = createWriteStream(path, { flags: 'a', mode: 0o600 });
    const file = { stream, bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0 };
    stream.on('error', (error) => {
      fail(error);
      if (open.get(runId) === file) open.delete(runId);
    });
    open.set(runId, file);
    return file;
  };
  // A full disk, or too many open files, must not end the gateway. The stream reports most of these failures later.
  const fileOf = (run: RunReference): LogFile | undefined => {
    try {
      return open.get(run.run_id) ?? openFile(run);
    } catch (error) {
      fail(error);
      return undefined;
    }
  };
  const end = (runId: string) => {
    open.get(runId)?.stream.end();
    open.delete(runId);
  };
  return {
    write: (run, line) => {
      const file = fileOf(run);
      if (!file || file.bytes >= fullAtBytes) return false;
      const time = timeOf(line.timestamp) ?? '';
      const { text, level } = keptOf(line);
      const written = `${time} ${level} ${text}\n`;
      file.bytes += Buffer.byteLength(written);
      const end = file.bytes >= fullAtBytes ? `${time} WARN ${lastLine}\n` : '';
      file.stream.write(written + end, (error) => {
        if (!error) isFailing = false;
      });
      return true;
    },
    end,
    close: async () => {
      const streams = [...open.values()].map(({ stream }) => stream);
      for (const runId of [...open.keys()]) end(runId);
      await Promise.allSettled(streams.map((stream) => finished(stream)));
    },
  };
}
