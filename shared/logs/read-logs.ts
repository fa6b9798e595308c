import { logLevels } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import type { Permitted, Relations } from '../http/caller.ts';
import { parseSnapshot } from '../rows/run-snapshot.ts';
import { invalid, notFound, ServiceError } from '../runtime/errors.ts';
import { logKeys, runKeys } from '../table/keys.ts';
import { type Table, getItem } from '../table/table.ts';
import { waitFor, type Wait } from '../http/wait.ts';
import { type LogLine, type LogPosition, readChunks } from '../rows/log-lines.ts';
import { readRun } from '../rows/run.ts';
import { readComputation } from '../rows/computation.ts';

export type LogLevel = (typeof logLevels)[number];

/** A request for lines of the log of a run. */
interface LogRequest {
  domain: string;
  id: string;
  /** The identifier of the run. Default: the latest run. */
  run?: string | undefined;
  /** The least level of the lines of the log to read. */
  level: LogLevel;
  /** The position in the log to read from: the `next` of an earlier answer. Empty: from the first line on. */
  after: string;
  limit: number;
  /** The caller. */
  by: string;
  now: string;
  permit: (relations: Relations) => Permitted;
}

/**
 * Reads lines of the log of a run, or waits until there are more.
 * @returns the lines, and in `next` the position after the last of them, for the next request
 * @throws ServiceError `not_found`; `forbidden`, with `reason: logs_not_shared` if nobody may read it; `invalid_request`
 */
export async function readLogs(table: Table, { domain, id, run, level, after, limit, by, now, permit }: LogRequest, wait: Wait) {
  const row = await readComputation(table, domain, id);
  const runId = run ?? row.run?.id;
  const item = runId === undefined ? undefined : await getItem(table, runKeys.snapshot(id, runId));
  const snapshot = item && parseSnapshot([item]);
  if (run !== undefined && !snapshot) throw notFound('run of this computation');
  if ((snapshot ?? row).log_access === 'none') {
    throw new ServiceError('forbidden', 'The logs of this run are not shared: its `log_access` is `none`.', {
      reason: 'logs_not_shared',
    });
  }
  const reviewer = snapshot?.result_review?.reviewers ?? [];
  const isOpen = !snapshot?.result_review || (await readRun(table, domain, runId ?? ''))?.result?.state === 'released';
  const others = {
    owner: snapshot?.owner ?? row.owner,
    creator: snapshot?.shows_creators_logs ? snapshot.assets.map(({ creator }) => creator) : [],
    consumer: snapshot?.result_consumers ?? [],
  };
  const permitted = permit({ ...others, reviewer });
  if (!isOpen && !reviewer.includes(by)) {
    throw new ServiceError('forbidden', 'Only the reviewers of the result read the logs of this run until it is released.');
  }
  if (!snapshot || runId === undefined) throw notFound('run of this computation');
  const ofRun = { computation_id: id, run_id: runId };
  const position = positionIn(after, logKeys.prefix(runId));
  const { logs, next } = await waitFor<Seen>(
    table,
    wait,
    (seen) => readPage(table, ofRun, seen?.next ?? position, { level, limit, now }),
    (seen) => seen.logs.length > 0,
  );
  return { logs, next: Buffer.from(JSON.stringify([next.chunk, next.line])).toString('base64url'), permitted };
}

interface Seen {
  logs: LogLine[];
  next: LogPosition;
}

/** The number of chunks that one read of the log of a run returns. A chunk holds several lines. */
const chunksPerRead = 4;
/**
 * The largest number of reads of the log for one page, since lines below the level may fill many chunks. The next request
 * continues after them.
 */
const mostReads = 16;

/** Reads lines of the log of a run that have at least a given level, from a position on, up to `limit`. Sixteen reads at most. */
async function readPage(
  table: Table,
  run: { computation_id: string; run_id: string },
  from: LogPosition,
  { level, limit, now }: Pick<LogRequest, 'level' | 'limit' | 'now'>,
): Promise<Seen> {
  const logs: LogLine[] = [];
  let next = from;
  for (let reads = 0; reads < mostReads; reads++) {
    const chunks = await readChunks(table, run, next, { limit: chunksPerRead, now });
    const isNew = ({ chunk, lines }: { chunk: string; lines: LogLine[] }) => chunk !== next.chunk || lines.length > next.line;
    if (!chunks.some(isNew)) break;
    for (const { chunk, lines } of chunks) {
      for (let line = chunk === next.chunk ? next.line : 0; line < lines.length; line++) {
        const read = lines[line];
        if (logs.length === limit) return { logs, next };
        if (read && isAtLeast(read.level, level)) logs.push(read);
        next = { chunk, line: line + 1 };
      }
    }
  }
  return { logs, next };
}

/** Tells whether a line of a log is of a given level or above. A level that the service does not know counts as `info`. */
function isAtLeast(level: string, least: LogLevel): boolean {
  const rank = (name: string) => logLevels.findIndex((each) => each === name);
  return (rank(level) < 0 ? rank('info') : rank(level)) >= rank(least);
}

const storedPosition = v.pipe(
  v.string(),
  v.parseJson(),
  v.strictTuple([v.string(), v.pipe(v.number(), v.integer(), v.minValue(0))]),
);

/** Matches the part of the sort key of a chunk of a log that follows the prefix of `logKeys`. */
const chunkOfRun = /^\d{15}#[!-}]{1,200}$/;

/**
 * Reads the position in the log of a run that a client sent.
 * @throws ServiceError `invalid_request`, also for a position in the log of another run
 */
function positionIn(after: string, prefix: string): LogPosition {
  if (after === '') return { chunk: '', line: 0 };
  const read = v.safeParse(storedPosition, Buffer.from(after, 'base64url').toString());
  const [chunk, line] = read.success ? read.output : [undefined, 0];
  if (chunk !== '' && !(chunk?.startsWith(prefix) && chunkOfRun.test(chunk.slice(prefix.length)))) {
    throw invalid('query/after', 'Expected the `next` of an earlier answer about this run, or an empty value.');
  }
  return { chunk, line };
}
