import type { Permitted } from '../access/caller.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import type { NewEvent } from '../events/event.ts';
import { computationKeys, journalKeys } from '../table/keys.ts';
import { getItems, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';
import type { AgentConfig } from './agent-config.ts';
import type { StoredComputation } from './computation.ts';
import { computationKey, parseComputation, readDefinition, type Definition } from './read-computation.ts';

interface Replacement {
  name: string;
  description: string;
  owner: string;
  agent_config: AgentConfig;
  permitted: Permitted;
}

/** What a replacement has to say to the computation it finds: the fields to write, or an error that refuses it. */
type Decide = (current: StoredComputation) => Replacement;

/**
 * Replaces a computation's own fields. Three round trips; a request that changes nothing writes nothing.
 * @throws ServiceError `not_found`, and whatever `decide` throws
 */
export async function updateComputation(
  table: Table,
  domain: string,
  id: string,
  by: string,
  now: string,
  decide: Decide,
): Promise<{ row: StoredComputation; definition: Definition; permitted: Permitted }> {
  return await withFreshReads(table, async (table) => {
    const [rowItem, headItem] = await getItems(table, [computationKey(domain, id), journalKeys.head(id)]);
    const current = parseComputation(rowItem, id);
    const definition = await readDefinition(table, id); // after the row, whose version then guards it
    const next = decide(current);
    const events = changeEvents(current, definition.agent_config, next, by);
    if (events.length === 0) return { row: current, definition, permitted: next.permitted };

    const { name, description, owner, agent_config, permitted } = next;
    const journal = await appendEvents(table, id, parseHead(headItem), events, now);
    await transact(table, [
      {
        update: {
          Key: computationKey(domain, id),
          UpdateExpression:
            'SET #name = :name, description = :description, #owner = :owner, updated_at = :now, version = version + :one',
          ConditionExpression: 'id = :id AND version = :read',
          ExpressionAttributeNames: { '#name': 'name', '#owner': 'owner' },
          ExpressionAttributeValues: {
            ...{ ':name': name, ':description': description, ':owner': owner, ':now': now, ':one': 1 },
            ...{ ':id': id, ':read': current.version },
          },
        },
        otherwise: new StaleReadError(),
      },
      ...(changedFields(definition.agent_config, agent_config).length > 0
        ? [{ put: { Item: { ...computationKeys.config(id), agent_config } } }]
        : []),
      ...journal.actions,
    ]);
    return {
      row: { ...current, name, description, owner, updated_at: now },
      definition: { ...definition, agent_config },
      permitted,
    };
  });
}

/** `updated` names the fields, never their values: a private key may be among them. */
function changeEvents(current: StoredComputation, config: AgentConfig, next: Replacement, by: string): NewEvent[] {
  const fields = [
    ...(['name', 'description'] as const).filter((field) => current[field] !== next[field]),
    ...changedFields(config, next.agent_config).map((field) => `agent_config.${field}`),
  ];
  const event = { status: 'success', originator: by, lifecycle: false } as const;
  const events: NewEvent[] = [];
  if (fields.length > 0) events.push({ ...event, event_type: 'updated', details: { fields } });
  if (current.owner !== next.owner) {
    events.push({ ...event, event_type: 'owner_changed', details: { from: current.owner, to: next.owner } });
  }
  return events;
}

function changedFields(before: AgentConfig, after: AgentConfig): (keyof AgentConfig)[] {
  return (Object.keys(after) as (keyof AgentConfig)[]).filter((field) => before[field] !== after[field]);
}
