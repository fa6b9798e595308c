import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { numberedId } from '../identifiers.ts';
import { countTransition } from './statistics.ts';
import { computationKeys, listKeys, lists } from '../table/keys.ts';
import { addToList, nextNumber } from '../table/listing.ts';
import { type Table } from '../table/table.ts';
import { transact } from '../table/transaction.ts';
import { defaultAgentConfig, type AgentConfig } from './agent-config.ts';
import type { Computation, StoredComputation } from './computation.ts';

interface NewComputation {
  domain: string;
  name: string;
  description: string;
  owner: string;
  agent_config: AgentConfig;
  createdBy: string;
  now: string;
}

/** Two round trips: the number, then row, configuration, counts, statistics and the `created` event in one transaction. */
export async function createComputation(table: Table, given: NewComputation): Promise<Computation> {
  const { domain, name, description, owner, agent_config, createdBy, now } = given;
  const list = lists.computations(domain);
  const number = await nextNumber(table, list);
  const id = numberedId(number);
  const row: StoredComputation = {
    ...{ id, name, description, owner, status: 'created', created_at: now, updated_at: now },
    ...{ run: null, version: 1, inputs_version: 1, dataset_count: 0 },
  };
  const created: NewEvent = {
    event_type: 'created',
    status: 'success',
    originator: createdBy,
    details: { name, owner },
    lifecycle: true,
  };
  const journal = await appendEvents(table, id, parseHead(undefined), [created], now);
  const hasConfig = JSON.stringify(agent_config) !== JSON.stringify(defaultAgentConfig);
  await transact(table, [
    { put: { Item: { ...listKeys.row(list, number), ...row }, ConditionExpression: 'attribute_not_exists(pk)' } },
    ...(hasConfig ? [{ put: { Item: { ...computationKeys.config(id), agent_config } } }] : []),
    ...addToList(list, number, row.status),
    countTransition(domain, row.status, now),
    ...journal.actions,
  ]);
  return { ...row, agent_config, assets: [], run: null };
}
