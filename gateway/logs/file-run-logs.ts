import { createWriteStream, mkdirSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { log } from '../../shared/logger.ts';
import { timeOf } from '../reports/wire-time.ts';
import { mostBytesPerRun, type RunLogs } from './run-logs.ts';

interface LogFile {
  stream: WriteStream;
  bytes: number;
}

/** Writes the log of each run into a file of its own, `<directory>/<runID>.log`, up to 8 MiB. */
export function fileRunLogs(directory: string): RunLogs {
  const open = new Map<string, LogFile>();
  let isFailing = false;
  const fail = (error: unknown) => {
    if (!isFailing) log('ERROR', 'The log of a run cannot be written.', { directory }, error);
    isFailing = true;
  };
  const openFile = (runId: string): LogFile => {
    mkdirSync(directory, { recursive: true });
    const path = join(directory, `${runId}.log`);
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
  const fileOf = (runId: string): LogFile | undefined => {
    try {
      return open.get(runId) ?? openFile(runId);
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
    write: ({ run_id }, { message, level, timestamp }) => {
      const file = fileOf(run_id);
      if (!file) return false;
      const line = `${timeOf(timestamp) ?? ''} ${level} ${message.trimEnd()}\n`;
      const bytes = Buffer.byteLength(line);
      if (file.bytes + bytes > mostBytesPerRun) return false;
      file.bytes += bytes;
      file.stream.write(line, (error) => {
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
