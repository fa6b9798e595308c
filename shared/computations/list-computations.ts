import type * as v from 'valibot';
import { parseStored } from '../table/parse-stored.ts';
import { lists } from '../table/keys.ts';
import { readPage } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import { type computationRow, storedComputation, type ComputationStatus } from './computation.ts';

export type ComputationRow = v.InferOutput<typeof computationRow>;

/** Reads a page of the domain's computations, newest first, and the exact total. See readPage for its cost. */
export async function listComputations(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; status?: ComputationStatus | undefined },
): Promise<{ computations: ComputationRow[]; total: number }> {
  const { limit, offset, status } = request;
  const { rows, total } = await readPage(table, lists.computations(domain), { limit, offset, facet: status });
  return { computations: rows.map((row) => parseStored(storedComputation, row, 'computation')), total };
}
