import type { Caller } from '../access/caller.ts';
import type { Kms } from '../kms.ts';
import { withoutServerKey } from './agent-config.ts';
import type { Computation, StoredComputation } from './computation.ts';
import { readDefinition, type Definition } from './definition.ts';
import { readComputation } from './find-computation.ts';
import type { Table } from '../table/table.ts';
import { openKey } from './sealed-key.ts';

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

/** Builds the computation that the caller may see. A call of KMS if that includes a private key. */
export async function describeOpened(
  kms: Kms,
  { row, definition }: { row: StoredComputation; definition: Definition },
  caller: Caller,
): Promise<Computation> {
  const kept = mayReadServerKey(row, caller) ? definition.agent_config.server_key : '';
  return describeComputation(row, definition, { caller, server_key: await openKey(kms, row.id, kept) });
}
