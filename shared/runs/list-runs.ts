import { parseStored } from '../table/parse-stored.ts';
import { computationKey, computationNumber, findComputation } from '../computations/read-computation.ts';
import { numberOf } from '../identifiers.ts';
import { groupOfComputation, indexedLists } from '../lists/indexed-list.ts';
import { readPage } from '../lists/read-page.ts';
import { getItem, type Table } from '../table/table.ts';
import { runSchema, type Run } from '../computations/run.ts';

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
