import * as v from 'valibot';
import { type Item, type Table, queryPrefix } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';
import { type StoredAgentConfig, parseAgentConfig, agentConfigAttributes } from './agent-config.ts';
import { type AttestationPolicy, attestationPolicy } from 'computation-management-formats/attestation';
import { computationKeys, userKeys } from '../table/keys.ts';
import { assetTypes } from 'computation-management-formats/vocabulary';
import type { Transaction } from '../table/transaction.ts';
import { computationNumber } from './computation.ts';

const linkSchema = v.object({
  asset_id: v.string(),
  file_name: v.string(),
  asset_type: v.picklist(assetTypes),
  created_by: v.string(),
  linked_as: v.number(),
});

const consumersSchema = v.object({ consumers: v.array(v.string()) });

const providersSchema = v.object({ providers: v.array(v.string()) });

const storedPolicy = v.object({ attestation_policy: v.optional(v.nullable(attestationPolicy), null) });
export type Link = v.InferOutput<typeof linkSchema>;

/** Without an item, none. */
export function parseProviders(item: Item | undefined): string[] {
  return item ? parseStored(providersSchema, item, 'list of providers').providers : [];
}

export interface Definition {
  agent_config: StoredAgentConfig;
  attestation_policy: AttestationPolicy | null;
  /** The only result consumers in addition to the owner. Empty: not limited. */
  consumers: string[];
  /** The only users who may link their own assets, beside the owner and administrators. Empty: not limited. */
  providers: string[];
  algorithm: Link | undefined;
  datasets: Link[];
}

/** @param items those under `part#` */
export function parseDefinition(items: Item[]): Definition {
  const links = items.filter((item) => 'asset_id' in item).map((item) => parseStored(linkSchema, item, 'link'));
  const config = items.find((item) => 'agent_config' in item);
  const named = items.find((item) => 'consumers' in item);
  return {
    agent_config: parseAgentConfig(config),
    attestation_policy: config ? parseStored(storedPolicy, config, 'attestation policy').attestation_policy : null,
    consumers: named ? parseStored(consumersSchema, named, 'list of consumers').consumers : [],
    providers: parseProviders(items.find((item) => 'providers' in item)),
    algorithm: links.find((link) => link.asset_type === 'algorithm'),
    datasets: links.filter((link) => link.asset_type === 'dataset').sort((a, b) => a.linked_as - b.linked_as),
  };
}

/** One round trip: the limits keep a definition below the 1 MB of a query. */
export async function readDefinition(table: Table, id: string): Promise<Definition> {
  return parseDefinition(await queryPrefix(table, computationKeys.partition(id), computationKeys.prefixes.part));
}

/** Adds nothing if they stay the same. */
export function replaceConsumers(
  transaction: Transaction,
  { domain, id }: { domain: string; id: string },
  { before, after }: { before: string[]; after: string[] },
): void {
  if (isSameList(before, after)) return;
  const key = computationKeys.consumers(id);
  transaction.add(after.length > 0 ? { put: { Item: { ...key, consumers: after } } } : { delete: { Key: key } });
  const placeOf = (user: string) => userKeys.consumer(domain, user, computationNumber(id));
  const [added, removed] = [after.filter((user) => !before.includes(user)), before.filter((user) => !after.includes(user))];
  for (const user of added) transaction.add({ put: { Item: { ...placeOf(user) } } });
  for (const user of removed) transaction.add({ delete: { Key: placeOf(user) } });
}

export function putConfig(
  transaction: Transaction,
  id: string,
  { agent_config, attestation_policy }: Pick<Definition, 'agent_config' | 'attestation_policy'>,
): void {
  const policy = attestation_policy && { attestation_policy };
  transaction.add({ put: { Item: { ...computationKeys.config(id), ...agentConfigAttributes(agent_config), ...policy } } });
}

/** Adds nothing if they stay the same. */
export function replaceProviders(
  transaction: Transaction,
  id: string,
  { before, after }: { before: string[]; after: string[] },
): void {
  if (isSameList(before, after)) return;
  const key = computationKeys.providers(id);
  transaction.add(after.length > 0 ? { put: { Item: { ...key, providers: after } } } : { delete: { Key: key } });
}

export function isSameList(before: string[], after: string[]): boolean {
  return before.length === after.length && before.every((user, index) => user === after[index]);
}
