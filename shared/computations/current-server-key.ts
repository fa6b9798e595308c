import type { Caller } from '../access/caller.ts';
import type { Kms } from '../kms.ts';
import { computationKeys } from '../table/keys.ts';
import { getItem, type Table } from '../table/table.ts';
import type { Computation } from './computation.ts';
import { parseDefinition } from './definition.ts';
import { mayReadServerKey } from './describe-computation.ts';
import { computationKey, findComputation } from './find-computation.ts';
import { openKey } from './sealed-key.ts';

/**
 * Adds `server_key` as it is stored now to a computation that was kept without it, if the caller may read it now. One round
 * trip, and a call of KMS if there is a key. A computation that has been deleted has no key.
 */
export async function withCurrentServerKey(
  computation: Computation,
  { domain, caller, table, kms }: { domain: string; caller: Caller; table: Table; kms: Kms },
): Promise<Computation> {
  const { id, agent_config } = computation;
  const [item, config] = await Promise.all([
    getItem(table, computationKey(domain, id)),
    getItem(table, computationKeys.config(id)),
  ]);
  const row = findComputation(item, id);
  if (!row || !mayReadServerKey(row, caller)) return computation;
  const { agent_config: kept } = parseDefinition(config ? [config] : []);
  const server_key = await openKey(kms, id, kept.server_key);
  return { ...computation, agent_config: { ...agent_config, server_key } };
}
