import { numberOf } from 'computation-management-formats/identifiers';
import { groupOfComputation, indexedLists } from '../lists/indexed-list.ts';
import { readPage } from '../lists/read-page.ts';
import { notFound } from '../runtime/errors.ts';
import { listKeys, lists, type RowKey } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { readComputation, computationKey, computationNumber, findComputation } from './read-computation.ts';
import { runSchema, type Run } from './run.ts';

/** @returns undefined if this service cannot have issued the identifier */
export function runKey(domain: string, id: string): RowKey | undefined {
  const number = numberOf(id);
  return number === undefined ? undefined : listKeys.row(lists.runs(domain), number);
}

/** @returns undefined if the row is missing or belongs to another run */
export function findRun(item: Item | undefined, id: string): Run | undefined {
  return item?.['id'] === id ? parseStored(runSchema, item, 'run') : undefined;
}

/** One round trip. */
export async function readRun(table: Table, domain: string, id: string): Promise<Run | undefined> {
  const key = runKey(domain, id);
  return key && findRun(await getItem(table, key), id);
}

/**
 * Reads a run of a computation. Without `runId`, reads the latest run. One round trip.
 * @throws ServiceError `not_found` if the computation does not exist, was never run or has no such run
 */
export async function readRunOfComputation(
  table: Table,
  domain: string,
  computationId: string,
  runId: string | undefined,
): Promise<Run> {
  const [computation, older] = await Promise.all([
    readComputation(table, domain, computationId),
    runId === undefined ? undefined : readRun(table, domain, runId),
  ]);
  const run = runId === undefined ? computation.run : older;
  if (run?.computation_id !== computationId) throw notFound('run of this computation');
  return run;
}

/**
 * Reads a page of the domain's runs, newest first, and the exact total. See readPage for its cost. A computation that the domain
 * does not have has no runs.
 */
export async function listRuns(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; status?: Run['status'] | undefined; computation_id?: string | undefined },
): Promise<{ runs: Run[]; total: number }> {
  const { limit, offset, status: state, computation_id } = request;
  if (computation_id !== undefined && numberOf(computation_id) === undefined) return noRuns;
  const group = computation_id === undefined ? undefined : groupOfComputation(computationNumber(computation_id));
  const [{ rows, total }, isThere] = await Promise.all([
    readPage(table, indexedLists.runs(domain), { limit, offset, state, group }),
    computation_id === undefined || isComputation(table, domain, computation_id),
  ]);
  return isThere ? { runs: rows.map((row) => parseStored(runSchema, row, 'run')), total } : noRuns;
}

const noRuns = { runs: [], total: 0 };

/** Another domain may have issued an identifier with the same number. */
async function isComputation(table: Table, domain: string, id: string): Promise<boolean> {
  return findComputation(await getItem(table, computationKey(domain, id)), id) !== undefined;
}
