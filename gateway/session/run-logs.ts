import { createWriteStream, mkdirSync, statSync, type WriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { printable } from 'computation-management-formats/printable';
import type { RunReference } from '../../shared/rows/run.ts';
import { writeLine, log } from '../../shared/runtime/log.ts';
import { type AgentLog, timeOf } from '../wire/messages.ts';

/** Takes the lines that agents log during runs. The lines never go into the journal of events. */
export interface RunLogs {
  write: (run: RunReference, line: AgentLog) => boolean;
  /** Called when a run is over, so that no more lines of its log are expected. */
  end: (runId: string) => unknown;
  close: () => Promise<void>;
}

export const mostBytesPerRun = 8 * 1024 * 1024;

/**
 * The size in bytes at which the log of a run is full: 8 MiB, less room for the longest line and for the line that says that the
 * log ends.
 */
const fullAtBytes = mostBytesPerRun - 32 * 1024;

export const lastLine = 'The log ends here: it has reached 8 MiB.';

/**
 * Matches the line that an agent logs whenever the gateway asks for its state. These lines would fill the log of a run in about
 * five days.
 */
const ofQuestion = /^Method State took \S+ to complete with state \w+$/;

/**
 * Tells whether a line of an agent's log is only there because the gateway asked for the agent's state. No log of a run keeps
 * such lines.
 */
export const isOfQuestion = ({ message }: AgentLog): boolean => ofQuestion.test(message);

/**
 * The largest number of characters of a line that the log of a run keeps. Agents send up to 500 bytes. Fargate cuts entries of
 * more than 16 KB.
 */
const longestLine = 2_500;

/** The largest number of characters of a line's level that the log of a run keeps. Agents use 5. */
const longestLevel = 20;

/**
 * Returns what the log of a run keeps of a line: the text without line breaks and escapes, so that nothing in it passes for
 * another line, and the level as one word.
 */
export function keptOf({ message, level }: AgentLog): { text: string; level: string } {
  return { text: printable(message.slice(0, longestLine)).trimEnd(), level: level.slice(0, longestLevel).replace(/\W/g, '_') };
}

/** The largest number of runs whose size of the log a gateway remembers. */
const mostRuns = 10_000;

/** The size in bytes that is assumed for the fields of a line of a log other than its level and text. */
const fieldsOfLine = 200;

/**
 * Returns the logs that write the lines of runs to CloudWatch, a line of JSON each, up to 8 MiB a run. The size of a log is
 * remembered after its CVM has left the gateway, because the CVM may come back.
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

interface LogFile {
  stream: WriteStream;
  bytes: number;
}

/** Returns the logs that write the lines of each run to the file `<directory>/<domain>/<runID>.log`, up to 8 MiB a run. */
export function fileRunLogs(directory: string): RunLogs {
  const open = new Map<string, LogFile>();
  let isFailing = false;
  const fail = (error: unknown) => {
    if (!isFailing) log('ERROR', 'The log of a run cannot be written.', { directory }, error);
    isFailing = true;
  };
  const openFile = ({ domain, run_id: runId }: RunReference): LogFile => {
    mkdirSync(join(directory, domain), { recursive: true, mode: 0o700 });
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
