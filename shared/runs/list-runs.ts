import { parseStored } from '../table/parse-stored.ts';
import { computationNumber } from '../computations/find-computation.ts';
import { groupOfComputation, indexedLists } from '../lists/indexed-list.ts';
import { readPage } from '../lists/read-page.ts';
import type { Table } from '../table/table.ts';
import { runSchema, type Run } from '../computations/run.ts';

/** Reads a page of the domain's runs, newest first, and the exact total. See readPage for its cost. */
export async function listRuns(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; status?: Run['status'] | undefined; computation_id?: string | undefined },
): Promise<{ runs: Run[]; total: number }> {
  const { limit, offset, status: state, computation_id } = request;
  const group = computation_id === undefined ? undefined : groupOfComputation(computationNumber(computation_id));
  const { rows, total } = await readPage(table, indexedLists.runs(domain), { limit, offset, state, group });
  return { runs: rows.map((row) => parseStored(runSchema, row, 'run')), total };
}
