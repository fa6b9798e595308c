import { mkdtempSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { lists } from '../../shared/table/keys.ts';
import { openTable, type Table, queryPartition } from '../../shared/table/table.ts';
import type { InvokeFunction } from '../functions/local-functions.ts';

/**
 * Returns the directory of the logs of runs on real CVMs, with files `<domain>/<runID>.log`: in the data directory, or a new
 * temporary directory if there is none.
 */
export function runLogDirectory(dataDirectory: string | undefined): string {
  return dataDirectory === undefined ? mkdtempSync(join(tmpdir(), 'run-logs-')) : join(dataDirectory, 'run-logs');
}

const nameOf = (runId: string) => `${runId}.log`;

/** Deletes the logs of all runs of a domain, also of computations that were deleted before. @returns the number of the logs */
export async function removeLogsOfDomain(directory: string, domain: string): Promise<number> {
  const folder = join(directory, domain);
  const logs = await namesIn(folder);
  await remove(folder);
  return logs.length;
}

/**
 * Returns a function that invokes functions of the service, and that also deletes the logs of deleted runs when the purge of
 * deleted computations is invoked: at the first purge after each start, and after each purge that purged something or failed.
 */
export function withRunLogs(invoke: InvokeFunction, directory: string): InvokeFunction {
  let isDue = true;
  return async (name, event) => {
    if (name !== 'maintenance/purge') return await invoke(name, event);
    const purge = invoke(name, event);
    const hasPurged = await purge.then(
      (result) => ((result as { purged?: number } | undefined)?.purged ?? 0) > 0,
      () => true,
    );
    isDue ||= hasPurged;
    if (isDue) {
      const table = openTable(() => new Deadline());
      await removeLogsOfDeletedRuns(directory, table);
      isDue = false;
    }
    return await purge;
  };
}

/** Deletes the log files of runs that do not exist any more. */
async function removeLogsOfDeletedRuns(directory: string, table: Table): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(unlessMissing);
  for (const { name: domain } of entries.filter((entry) => entry.isDirectory())) {
    const logs = await namesIn(join(directory, domain)); // before the runs: each run is there before its log
    const runs = await queryPartition(table, lists.runs(domain).pk, { attributes: ['id'] });
    const kept = new Set(runs.map(({ id }) => nameOf(String(id))));
    await Promise.all(logs.filter((name) => !kept.has(name)).map((name) => remove(join(directory, domain, name))));
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(unlessMissing);
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

function unlessMissing(error: unknown): [] {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
  throw error;
}
