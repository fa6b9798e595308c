import type { ComputationStatus } from 'computation-management-formats/vocabulary';
import type * as v from 'valibot';
import { parseStored, type Table } from '../table/table.ts';
import { readPage } from '../table/read-page.ts';
import { rowLists } from '../table/row-lists.ts';
import { type computationRow, storedComputation } from '../rows/computation.ts';

export type ComputationRow = v.InferOutput<typeof computationRow>;

export async function listComputations(
  table: Table,
  domain: string,
  request: { limit: number; offset: number; status?: ComputationStatus | undefined; owner?: string | undefined },
): Promise<{ computations: ComputationRow[]; total: number }> {
  const { limit, offset, status: state, owner } = request;
  const list = owner === undefined ? rowLists.computations(domain) : rowLists.ownedComputations(domain, owner);
  const { rows, total } = await readPage(table, list, { limit, offset, state });
  return { computations: rows.map((row) => parseStored(storedComputation, row, 'computation')), total };
}
