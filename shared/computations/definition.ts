import * as v from 'valibot';
import { computationKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { queryPrefix, type Item, type Table } from '../table/table.ts';
import { parseAgentConfig, type AgentConfig } from './agent-config.ts';

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
