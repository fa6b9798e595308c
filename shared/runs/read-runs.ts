import { type Table, getItem, queryBetween } from '../table/table.ts';
import { type Run, runSchema, isActive, readRun, readRuns } from '../rows/run.ts';
import { readPage } from '../table/read-page.ts';
import { rowLists } from '../table/row-lists.ts';
import { numberOf } from 'computation-management-formats/identifiers';
import { runKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { countRuns, computationKey, findComputation, readComputation } from '../rows/computation.ts';
import { notFound, ServiceError } from '../runtime/errors.ts';

interface RunsRequest {
  limit: number;
  offset: number;
  status?: Run['status'] | undefined;
}

/**
 * Lists the runs of a domain, or of a computation, newest first, with the exact total. See readPage for the round trips that it
 * costs.
 */
export async function listRuns(
  table: Table,
  domain: string,
  { computation_id, ...request }: RunsRequest & { computation_id?: string | undefined },
): Promise<{ runs: Run[]; total: number }> {
  if (computation_id !== undefined) return await listRunsOf(table, domain, computation_id, request);
  const { limit, offset, status: state } = request;
  const { rows, total } = await readPage(table, rowLists.runs(domain), { limit, offset, state });
  return { runs: rows.map((row) => parseStored(runSchema, row, 'run')), total };
}

/**
 * Lists the runs of a computation, newest first. All runs, and those with each final status, are numbered without gaps, so a page
 * is a range of numbers. Two round trips, or three for later pages. A computation that the domain does not have has no runs.
 */
async function listRunsOf(table: Table, domain: string, id: string, { limit, offset, status }: RunsRequest) {
  if (numberOf(id) === undefined) return { runs: [], total: 0 };
  const among = status ?? 'all';
  const range = (last: number) => {
    return [runKeys.nth(id, among, Math.max(1, last - limit + 1)), runKeys.nth(id, among, last)] as const;
  };
  const newest = { newestFirst: true, limit };
  const [row, ahead] = await Promise.all([
    getItem(table, computationKey(domain, id)),
    offset === 0 ? queryBetween(table, runKeys.nth(id, among, 1), runKeys.nth(id, among, lastOrdinal), newest) : [],
  ]);
  const computation = findComputation(row, id);
  if (!computation) return { runs: [], total: 0 };
  const total = countRuns(computation, status);
  const last = total - offset;
  const { run } = computation;
  if (status !== undefined && isActive(status)) return { runs: run && last > 0 ? [run] : [], total };
  if (last < 1) return { runs: [], total };
  const isAhead = ahead[0]?.['sk'] === runKeys.nth(id, among, last).sk;
  // Another run may have come between the two reads.
  const items = isAhead ? ahead : await queryBetween(table, ...range(last), newest);
  const ids = items.map((item) => String(item['run_id']));
  const found = await readRuns(table, domain, ids);
  return { runs: found.filter((each) => status === undefined || each.status === status), total };
}

const lastOrdinal = 999_999_999;

/**
 * Reads a run of a computation, or, without `runId`, the latest run. One round trip.
 * @throws ServiceError `not_found` if the computation does not exist, was never run or has no such run
 */
export async function readRunOfComputation(table: Table, domain: string, computationId: string, runId: string | undefined) {
  const [computation, older] = await Promise.all([
    readComputation(table, domain, computationId),
    runId === undefined ? undefined : readRun(table, domain, runId),
  ]);
  const run = runId === undefined ? computation.run : older;
  if (runId === undefined && !run) throw new ServiceError('not_found', 'This computation has no run yet.');
  if (run?.computation_id !== computationId) throw notFound('run of this computation');
  return run;
}
