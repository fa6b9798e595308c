import type { Caller } from '../access/caller.ts';
import { computationKeys } from '../table/keys.ts';
import { getItem, type Table } from '../table/table.ts';
import type { Computation } from './computation.ts';
import { parseDefinition } from './definition.ts';
import { mayReadServerKey } from './describe-computation.ts';
import { computationKey, findComputation } from './find-computation.ts';

/**
 * Adds `server_key` as it is stored now to a computation that was kept without it, if the caller may read it now. One round
 * trip. A computation that has been deleted has no key.
 */
export async function withCurrentServerKey(
  table: Table,
  domain: string,
  computation: Computation,
  caller: Caller,
): Promise<Computation> {
  const { id, agent_config } = computation;
  const [item, config] = await Promise.all([
    getItem(table, computationKey(domain, id)),
    getItem(table, computationKeys.config(id)),
  ]);
  const row = findComputation(item, id);
  if (!row || !mayReadServerKey(row, caller)) return computation;
  const { server_key } = parseDefinition(config ? [config] : []).agent_config;
  return { ...computation, agent_config: { ...agent_config, server_key } };
}
