import * as v from 'valibot';
import { notFound } from '../errors.ts';
import { parseStored } from '../table/parse-stored.ts';
import { numberOf } from '../identifiers.ts';
import { computationKeys, listKeys, lists, type Key } from '../table/keys.ts';
import { getItem, queryPrefix, type Item, type Table } from '../table/table.ts';
import { parseAgentConfig, type AgentConfig } from './agent-config.ts';
import { storedComputation, type StoredComputation } from './computation.ts';

/** Where a computation's row is. @throws ServiceError `not_found` for an identifier that this service cannot have issued */
export function computationKey(domain: string, id: string): Key {
  return listKeys.row(lists.computations(domain), computationNumber(id));
}

export function computationNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('computation');
  return number;
}

/** The row read from `computationKey`. @throws ServiceError `not_found` where there is none with this identifier */
export function parseComputation(item: Item | undefined, id: string): StoredComputation {
  if (item?.['id'] !== id) throw notFound('computation');
  return parseStored(storedComputation, item, 'computation');
}

/** One round trip. @throws ServiceError `not_found` */
export async function readComputation(table: Table, domain: string, id: string): Promise<StoredComputation> {
  return parseComputation(await getItem(table, computationKey(domain, id)), id);
}

const linkSchema = v.object({
  asset_id: v.string(),
  file_name: v.string(),
  asset_type: v.picklist(['algorithm', 'dataset']),
  /** The number of the event that recorded the link: datasets stand in this order. */
  linked_as: v.number(),
});
export type Link = v.InferOutput<typeof linkSchema>;

/** What a computation consists of beside its row. */
export interface Definition {
  agent_config: AgentConfig;
  algorithm: Link | undefined;
  /** In the order they were linked. */
  datasets: Link[];
}

/** The items under the computation's `part#` keys, read as its definition. */
export function parseDefinition(items: Item[]): Definition {
  const links = items.filter((item) => 'asset_id' in item).map((item) => parseStored(linkSchema, item, 'link'));
  const config = items.find((item) => 'agent_config' in item);
  return {
    agent_config: parseAgentConfig(config?.['agent_config']),
    algorithm: links.find((link) => link.asset_type === 'algorithm'),
    datasets: links.filter((link) => link.asset_type === 'dataset').sort((a, b) => a.linked_as - b.linked_as),
  };
}

/** One round trip for a definition of up to a megabyte, which the limits keep it under. */
export async function readDefinition(table: Table, id: string): Promise<Definition> {
  return parseDefinition(await queryPrefix(table, computationKeys.partition(id), computationKeys.prefixes.part));
}
