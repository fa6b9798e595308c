import type { Caller } from '../access/caller.ts';
import { withoutServerKey } from './agent-config.ts';
import type { Computation, StoredComputation } from './computation.ts';
import { readDefinition, type Definition } from './definition.ts';
import { readComputation } from './find-computation.ts';
import type { Table } from '../table/table.ts';

/** Only editors see `server_key` (docs/contract.md, section 2). */
export function mayReadServerKey({ owner }: StoredComputation, caller: Caller): boolean {
  return caller.actions.has('edit') || caller.id === owner;
}

/** Builds the computation that the caller may see. @param server_key in plain text, shown if the caller may read it */
export function describeComputation(
  row: StoredComputation,
  definition: Definition,
  { caller, server_key }: { caller: Caller; server_key: string },
): Computation {
  const { agent_config, consumers, algorithm, datasets } = definition;
  return {
    ...row,
    agent_config: { ...withoutServerKey(agent_config), ...(mayReadServerKey(row, caller) ? { server_key } : {}) },
    consumers,
    assets: [...(algorithm ? [algorithm] : []), ...datasets].map(({ asset_id, file_name, asset_type }) => ({
      id: asset_id,
      file_name,
      asset_type,
    })),
  };
}

/** Reads what a description of a computation needs. One round trip. @throws ServiceError `not_found` */
export async function readToDescribe(
  table: Table,
  domain: string,
  id: string,
): Promise<{ row: StoredComputation; definition: Definition }> {
  const [row, definition] = await Promise.all([readComputation(table, domain, id), readDefinition(table, id)]);
  return { row, definition };
}
