import { parseStored } from '../table/parse-stored.ts';
import { lists } from '../table/keys.ts';
import { readPage } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import { runSchema, type Run } from '../computations/run.ts';

/** Reads a page of the domain's runs, newest first, and the exact total. See readPage for its cost. */
export async function listRuns(
  table: Table,
  domain: string,
  request: { limit: number; offset: number },
): Promise<{ runs: Run[]; total: number }> {
  const { rows, total } = await readPage(table, lists.runs(domain), request);
  return { runs: rows.map((row) => parseStored(runSchema, row, 'run')), total };
}
