import { numberOf } from 'computation-management-formats/identifiers';
import { attestationPolicy, type AttestationPolicy } from 'computation-management-formats/attestation';
import { assetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { notFound } from '../runtime/errors.ts';
import { computationKeys, listKeys, lists, type RowKey } from '../table/keys.ts';
import { type Table, getItem, type Item, queryPrefix } from '../table/table.ts';
import { parseAgentConfig, type StoredAgentConfig } from './agent-config.ts';
import { storedComputation, type StoredComputation } from './computation.ts';
import { parseStored } from '../table/stored.ts';
import { type Run, readRun } from './run.ts';

/** @throws ServiceError `not_found` if this service cannot have issued the identifier */
export function computationNumber(id: string): number {
  const number = numberOf(id);
  if (number === undefined) throw notFound('computation');
  return number;
}

/** Throws as computationNumber does. */
export function computationKey(domain: string, id: string): RowKey {
  return listKeys.row(lists.computations(domain), computationNumber(id));
}

/** @returns undefined if the row is missing or another computation's */
export function findComputation(item: Item | undefined, id: string): StoredComputation | undefined {
  return item?.['id'] === id ? parseStored(storedComputation, item, 'computation') : undefined;
}

/** @throws ServiceError `not_found` */
export function parseComputation(item: Item | undefined, id: string): StoredComputation {
  const computation = findComputation(item, id);
  if (!computation) throw notFound('computation');
  return computation;
}

/** One round trip. @throws ServiceError `not_found` */
export async function readComputation(table: Table, domain: string, id: string): Promise<StoredComputation> {
  return parseComputation(await getItem(table, computationKey(domain, id)), id);
}

const linkSchema = v.object({
  asset_id: v.string(),
  file_name: v.string(),
  asset_type: v.picklist(assetTypes),
  created_by: v.string(),
  linked_as: v.number(),
});
export type Link = v.InferOutput<typeof linkSchema>;

const consumersSchema = v.object({ consumers: v.array(v.string()) });
const providersSchema = v.object({ providers: v.array(v.string()) });

/** Without an item, none. */
export function parseProviders(item: Item | undefined): string[] {
  return item ? parseStored(providersSchema, item, 'list of providers').providers : [];
}

const storedPolicy = v.object({ attestation_policy: v.optional(v.nullable(attestationPolicy), null) });

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

/**
 * Without `runId`, the latest. One round trip.
 * @throws ServiceError `not_found` if the computation does not exist, was never run or has no such run
 */
export async function readRunOfComputation(
  table: Table,
  domain: string,
  computationId: string,
  runId: string | undefined,
): Promise<Run> {
  const [computation, older] = await Promise.all([
    readComputation(table, domain, computationId),
    runId === undefined ? undefined : readRun(table, domain, runId),
  ]);
  const run = runId === undefined ? computation.run : older;
  if (run?.computation_id !== computationId) throw notFound('run of this computation');
  return run;
}
