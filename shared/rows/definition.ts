import * as v from 'valibot';
import { type Item, type QueryOptions, type Table, getItems, queryPrefix } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';
import {
  type AgentConfig,
  agentConfigAttributes,
  changedConfigFields,
  defaultAgentConfig,
  parseAgentConfig,
  type StoredAgentConfig,
} from './agent-config.ts';
import { canonicalJson } from 'computation-management-formats/digests';
import { type AttestationPolicy, attestationPolicy } from 'computation-management-formats/attestation';
import { computationKeys, type Key, userKeys } from '../table/keys.ts';
import { assetTypes } from 'computation-management-formats/vocabulary';
import type { Action, Transaction } from '../table/transaction.ts';
import { deleteItemIf, putItems } from '../table/writes.ts';
import { inParallel } from '../runtime/in-parallel.ts';
import { log } from '../runtime/log.ts';
import { computationNumber, mostActs } from './computation.ts';

const linkSchema = v.object({
  asset_id: v.string(),
  file_name: v.string(),
  asset_type: v.picklist(assetTypes),
  created_by: v.string(),
  linked_as: v.number(),
  linked_by: v.optional(v.string()),
});

const change = v.object({ name: v.string(), by: v.string(), at: v.string() });

/** The last change of a part of a computation, such as a consumer or a member of its policy: its name, who changed it, and when. */
export type NamedChange = v.InferOutput<typeof change>;

const consumersSchema = v.object({ consumers: v.array(v.string()), changes: v.optional(v.array(change), []) });

const providersSchema = v.object({ providers: v.array(v.string()), former: v.optional(v.array(v.string()), []) });

const actSchema = v.object({ user_id: v.string(), is_consumer: v.optional(v.boolean()) });

const storedPolicy = v.object({
  attestation_policy: v.optional(v.nullable(attestationPolicy), null),
  policy_changes: v.optional(v.array(change), []),
});

/** The link of an asset to a computation, as it is stored with the computation. */
export type Link = v.InferOutput<typeof linkSchema>;

/** Parses the list of users who may link their assets to a computation. Returns an empty list if there is no item. */
export function parseProviders(item: Item | undefined): string[] {
  return parseStored(providersSchema, item ?? { providers: [] }, 'list of providers').providers;
}

/** The part of a computation that is stored beside its row: the configuration, links, consumers and providers. */
export interface Definition {
  agent_config: StoredAgentConfig;
  attestation_policy: AttestationPolicy | null;
  /**
   * The users who may fetch the results of a computation in addition to its owner. If empty, result consumers are not limited to
   * a list.
   */
  consumers: string[];
  /**
   * The users who may link their own assets to a computation, beside its owner and administrators. If empty, providers are not
   * limited to a list.
   */
  providers: string[];
  /** The users whom the computation named as providers before, the last 200 of them, for the deletion of their invitations. */
  former_providers: string[];
  algorithm: Link | undefined;
  datasets: Link[];
  /**
   * The users who uploaded a key to the computation, linked an asset of their own, approved or refused, an entry for each of these
   * acts. `is_consumer` is true for
   * a key whose user had the role `result_consumer` when uploading it.
   */
  acts: v.InferOutput<typeof actSchema>[];
  /** The last change of each member of the policy, by its name. */
  policy_changes: NamedChange[];
  /**
   * The last change of each consumer, who was added or, if not a consumer now, removed: the newest 100 of the latter. The name is empty
   * for the change from consumers to none, or back.
   */
  consumer_changes: NamedChange[];
}

/**
 * Parses what is stored beside the row of a computation: its configuration, links, consumers and providers, and who has acted.
 * @param items the items of the computation at `computationKeys`
 */
export function parseDefinition(items: Item[]): Definition {
  const links = items.filter((item) => 'asset_id' in item).map((item) => parseStored(linkSchema, item, 'link'));
  const config = items.find((item) => 'agent_config' in item);
  const named = items.find((item) => 'consumers' in item);
  const { attestation_policy, policy_changes } = parseStored(storedPolicy, config ?? {}, 'attestation policy');
  const ofProviders = items.find((item) => 'providers' in item) ?? { providers: [] };
  const { providers, former } = parseStored(providersSchema, ofProviders, 'list of providers');
  const { consumers, changes } = parseStored(consumersSchema, named ?? { consumers: [] }, 'list of consumers');
  return {
    agent_config: parseAgentConfig(config),
    attestation_policy,
    policy_changes,
    consumers,
    consumer_changes: changes,
    providers,
    former_providers: former,
    algorithm: links.find((link) => link.asset_type === 'algorithm'),
    datasets: links.filter((link) => link.asset_type === 'dataset').sort((a, b) => a.linked_as - b.linked_as),
    acts: [
      ...links.filter(({ created_by, linked_by }) => linked_by === created_by).map(({ created_by }) => ({ user_id: created_by })),
      ...items.filter((item) => 'user_id' in item).map((item) => parseStored(actSchema, item, 'act')),
    ],
  };
}

/**
 * Reads the definition of a computation, in one round trip for each MB. Its parts have less than 1 MB by their limits. Anybody with `view` may add a
 * key, so that of the keys, approvals and refusals 500 of each are read, in the order of the users, and, in a
 * second round trip, those of the named users.
 */
export async function readDefinition(table: Table, id: string): Promise<Definition> {
  const { part, key, approval, refusal } = computationKeys.prefixes;
  const read = (prefix: string, options?: QueryOptions) => queryPrefix(table, computationKeys.partition(id), prefix, options);
  const limit = mostActs;
  const items = await Promise.all([
    read(part),
    read(key, { limit, attributes: ['user_id', 'is_consumer'] }),
    ...[approval, refusal].map((prefix) => read(prefix, { limit, attributes: ['user_id'] })),
  ]);
  const definition = parseDefinition(items.flat());
  if (items.slice(1).every(({ length }) => length < limit)) return definition;
  const named = [...new Set([...definition.providers, ...definition.consumers])].flatMap((user) =>
    [computationKeys.userKey, computationKeys.approval, computationKeys.refusal].map((keyOf) => keyOf(id, user)),
  );
  const ofNamed = (await getItems(table, named)).filter((item) => item !== undefined);
  return parseDefinition([...items.flat(), ...ofNamed]);
}

/**
 * The parts of a computation stored beside its row that users give in requests: attestation policy, configuration, consumers and
 * providers. Its links come from endpoints of their own.
 */
export type GivenDefinition = Pick<Definition, 'attestation_policy' | 'consumers' | 'providers'> & { agent_config: AgentConfig };

/** The parts stored beside the row of a computation, such as its configuration, as they are if a user gave only the name. */
export const emptyDefinition: Definition = {
  agent_config: defaultAgentConfig,
  attestation_policy: null,
  consumers: [],
  providers: [],
  former_providers: [],
  algorithm: undefined,
  datasets: [],
  acts: [],
  policy_changes: [],
  consumer_changes: [],
};

/**
 * Returns the names of the parts of a computation that differ before and after a change, such as `agent_config.cert_file`, for
 * the event `updated`.
 */
export function changedParts(before: Definition, after: Definition): string[] {
  const rest = (['attestation_policy', 'consumers', 'providers'] as const).filter(
    (name) => canonicalJson({ [name]: before[name] }) !== canonicalJson({ [name]: after[name] }),
  );
  return [...changedConfigFields(before.agent_config, after.agent_config).map((name) => `agent_config.${name}`), ...rest];
}

/**
 * Adds the writes that replace the parts of a computation that are stored beside its row, and none for parts that stay the same.
 * Links of assets stay.
 */
export function replaceDefinition(
  transaction: Transaction,
  { domain, id, version, by, now }: { domain: string; id: string; version: number; by: string; now: string },
  before: Definition,
  after: Definition,
): void {
  const { agent_config, attestation_policy, consumers, providers } = after;
  const changed = new Set(changedParts(before, after).map((part) => part.split('.')[0]));
  if (changed.has('agent_config') || changed.has('attestation_policy')) {
    const { policy_changes } = changesOf(before, after, { by, at: now });
    const policy = { ...(attestation_policy && { attestation_policy }), policy_changes };
    transaction.add({ put: { Item: { ...computationKeys.config(id), ...agentConfigAttributes(agent_config), ...policy } } });
  }
  if (changed.has('consumers')) {
    const { consumer_changes: changes } = changesOf(before, after, { by, at: now });
    transaction.add({ put: { Item: { ...computationKeys.consumers(id), consumers, changes } } });
    const placeOf = (user: string) => userKeys.consumer(domain, user, computationNumber(id));
    transaction.add(...changesOfNames({ before: before.consumers, after: consumers, version, placeOf }));
  }
  if (changed.has('providers')) {
    const key = computationKeys.providers(id);
    const named = new Set([...before.providers, ...before.former_providers]);
    const former = [...named].filter((user) => !providers.includes(user)).slice(0, mostFormer);
    transaction.add({ put: { Item: { ...key, providers, former } } });
    const placeOf = (user: string) => userKeys.provider(domain, user, computationNumber(id));
    addOrFollow(transaction, { before: before.providers, after: providers, version, placeOf });
  }
}

/** The most former providers that are kept. */
const mostFormer = 200;

/** The most removed consumers whose removal is kept. */
const mostRemoved = 100;

/** Returns the last changes of the consumers and of the members of the policy, with those of a change of the computation. */
function changesOf(
  before: Definition,
  after: Pick<Definition, 'attestation_policy' | 'consumers'>,
  author: { by: string; at: string },
): Pick<Definition, 'policy_changes' | 'consumer_changes'> {
  const [one, other] = [before.consumers, after.consumers];
  const isOtherKind = (one.length === 0) !== (other.length === 0);
  const changed = [
    ...one.filter((user) => !other.includes(user)),
    ...other.filter((user) => !one.includes(user)),
    ...(isOtherKind ? [''] : []),
  ];
  const [policy, newPolicy] = [{ ...before.attestation_policy }, { ...after.attestation_policy }] as Record<string, unknown>[];
  const members = Object.keys({ ...policy, ...newPolicy }).filter(
    (name) => canonicalJson({ [name]: policy?.[name] ?? null }) !== canonicalJson({ [name]: newPolicy?.[name] ?? null }),
  );
  const added = (names: string[], earlier: NamedChange[]) => [
    ...names.map((name) => ({ name, ...author })),
    ...earlier.filter(({ name }) => !names.includes(name)),
  ];
  const all = added(changed, before.consumer_changes);
  const removed = all.filter(({ name }) => !other.includes(name)).slice(mostRemoved);
  return {
    policy_changes: added(members, before.policy_changes),
    consumer_changes: all.filter((each) => !removed.includes(each)),
  };
}

interface NameChange {
  before: string[];
  after: string[];
  /** The version of the computation after the change. */
  version: number;
  placeOf: (user: string) => Key;
}

/** Returns the writes for the items of users who are named after a change and were not before, and of those who no longer are. */
function changesOfNames({ before, after, version, placeOf }: NameChange): Action[] {
  return [
    ...after.filter((user) => !before.includes(user)).map((user) => ({ put: { Item: { ...placeOf(user), named_in: version } } })),
    ...before.filter((user) => !after.includes(user)).map((user) => ({ delete: { Key: placeOf(user) } })),
  ];
}

/**
 * Adds the writes of `changesOfNames` to a transaction as long as it has room for them and for the kept answer. Those that are left, at
 * most 200, are written right after it. If that fails, invitations are missing, or stay in the table until the computation is deleted,
 * where nobody sees them. A late delete leaves what a later change has put.
 */
function addOrFollow(transaction: Transaction, change: NameChange): void {
  const actions = changesOfNames(change);
  const room = transaction.actionsLeft - 1;
  transaction.add(...actions.slice(0, room));
  const following = actions.slice(room);
  if (following.length === 0) return;
  transaction.afterwards(async (table) => {
    const earlier = {
      ConditionExpression: 'attribute_not_exists(pk) OR named_in < :version',
      ExpressionAttributeValues: { ':version': change.version },
    };
    try {
      await putItems(
        table,
        following.flatMap(({ put }) => (put ? [put.Item] : [])),
      );
      await inParallel(following, async ({ delete: gone }) => {
        if (gone) await deleteItemIf(table, gone.Key, earlier);
      });
    } catch (error) {
      log('WARN', 'Named providers are not all invited.', {}, error);
    }
  });
}
