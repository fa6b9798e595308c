import { type AttestationPolicy, attestationPolicy } from 'computation-management-formats/attestation';
import { canonicalJson } from 'computation-management-formats/digests';
import { type ResultReview, resultReview } from 'computation-management-formats/consent';
import { assetTypes } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { computationKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { getItems, type Item, type QueryOptions, queryPrefix, type Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import {
  type AgentConfig,
  agentConfigAttributes,
  changedConfigFields,
  defaultAgentConfig,
  parseAgentConfig,
  type StoredAgentConfig,
} from './agent-config.ts';
import { mostActs, type Party, type StoredComputation } from './computation.ts';

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

const providersSchema = v.object({ providers: v.array(v.string()) });

const actSchema = v.object({ user_id: v.string(), is_consumer: v.optional(v.boolean()), is_link: v.optional(v.literal(true)) });

const storedPolicy = v.object({
  attestation_policy: v.optional(v.nullable(attestationPolicy), null),
  policy_changes: v.optional(v.array(change), []),
  result_review: v.optional(v.nullable(resultReview), null),
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
  result_review: ResultReview | null;
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
  algorithm: Link | undefined;
  datasets: Link[];
  /**
   * The users who uploaded a key to the computation, linked an asset of their own, approved or refused, an entry for each of these
   * acts. `is_consumer` is true for
   * a key whose user had the role `result_consumer` when uploading it, `is_link` for a link.
   */
  acts: v.InferOutput<typeof actSchema>[];
  /** The last change of each member of the policy and of each part of the review, by its name. */
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
  const { attestation_policy, policy_changes, result_review } = parseStored(storedPolicy, config ?? {}, 'attestation policy');
  const { consumers, changes } = parseStored(consumersSchema, named ?? { consumers: [] }, 'list of consumers');
  return {
    agent_config: parseAgentConfig(config),
    attestation_policy,
    result_review,
    policy_changes,
    consumers,
    consumer_changes: changes,
    providers: parseProviders(items.find((item) => 'providers' in item)),
    algorithm: links.find((link) => link.asset_type === 'algorithm'),
    datasets: links.filter((link) => link.asset_type === 'dataset').sort((a, b) => a.linked_as - b.linked_as),
    acts: [
      ...links
        .filter(({ created_by, linked_by }) => linked_by === created_by)
        .map(({ created_by }) => ({ user_id: created_by, is_link: true as const })),
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
  const { providers, consumers, result_review } = definition;
  const named = [...new Set([...providers, ...consumers, ...(result_review?.reviewers ?? [])])].flatMap((user) =>
    [computationKeys.userKey, computationKeys.approval, computationKeys.refusal].map((keyOf) => keyOf(id, user)),
  );
  const ofNamed = (await getItems(table, named)).filter((item) => item !== undefined);
  return parseDefinition([...items.flat(), ...ofNamed]);
}

/**
 * The parts of a computation stored beside its row that users give in requests: attestation policy, configuration, consumers and
 * providers. Its links come from endpoints of their own.
 */
export type GivenDefinition = Pick<Definition, 'attestation_policy' | 'result_review' | 'consumers' | 'providers'> & {
  agent_config: AgentConfig;
};

/** The parts stored beside the row of a computation, such as its configuration, as they are if a user gave only the name. */
export const emptyDefinition: Definition = {
  agent_config: defaultAgentConfig,
  attestation_policy: null,
  result_review: null,
  consumers: [],
  providers: [],
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
  const rest = (['attestation_policy', 'result_review', 'consumers', 'providers'] as const).filter(
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
  { id, by, now }: { id: string; by: string; now: string },
  before: Definition,
  after: Definition,
): void {
  const { agent_config, attestation_policy, result_review, consumers, providers } = after;
  const changed = new Set(changedParts(before, after).map((part) => part.split('.')[0]));
  if (['agent_config', 'attestation_policy', 'result_review'].some((part) => changed.has(part))) {
    const { policy_changes } = changesOf(before, after, { by, at: now });
    const policies = {
      ...(attestation_policy && { attestation_policy }),
      policy_changes,
      ...(result_review && { result_review }),
    };
    transaction.add({ put: { Item: { ...computationKeys.config(id), ...agentConfigAttributes(agent_config), ...policies } } });
  }
  if (changed.has('consumers')) {
    const { consumer_changes: changes } = changesOf(before, after, { by, at: now });
    transaction.add({ put: { Item: { ...computationKeys.consumers(id), consumers, changes } } });
  }
  if (changed.has('providers')) {
    transaction.add({ put: { Item: { ...computationKeys.providers(id), providers } } });
  }
}

/** The most removed consumers whose removal is kept, and the most changes of the policy and the review. */
const mostRemoved = 100;

/** Returns the name under which the last change of a part of the review is kept. @param part `needed`, `reviewers/<user>`, or empty */
export const reviewPart = (part: string) => `result_review/${part}`;

/** Returns the parts of a review with their values: one that stands for the whole, `needed`, and one for each reviewer. */
function partsOfReview(review: ResultReview | null): Record<string, unknown> {
  if (!review) return {};
  const reviewers = review.reviewers.map((user) => [reviewPart(`reviewers/${user}`), true] as const);
  return { [reviewPart('')]: true, [reviewPart('needed')]: review.needed, ...Object.fromEntries(reviewers) };
}

/** Returns the last changes of the consumers and of the members of the policy and the review, with those of a change of the computation. */
function changesOf(
  before: Definition,
  after: Pick<Definition, 'attestation_policy' | 'result_review' | 'consumers'>,
  author: { by: string; at: string },
): Pick<Definition, 'policy_changes' | 'consumer_changes'> {
  const [one, other] = [before.consumers, after.consumers];
  const isOtherKind = (one.length === 0) !== (other.length === 0);
  const changed = [
    ...one.filter((user) => !other.includes(user)),
    ...other.filter((user) => !one.includes(user)),
    ...(isOtherKind ? [''] : []),
  ];
  const [policy, newPolicy] = [before, after].map(({ attestation_policy, result_review }): Record<string, unknown> => ({
    ...attestation_policy,
    ...partsOfReview(result_review),
  }));
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
    policy_changes: added(members, before.policy_changes).slice(0, mostRemoved),
    consumer_changes: all.filter((each) => !removed.includes(each)),
  };
}

interface Files {
  algorithm: { created_by: string } | undefined;
  datasets: { created_by: string }[];
}

/**
 * Returns the users who take part in a computation and those whom it names: the owner, then providers in the order of their links,
 * named providers, named consumers, the users whose key made them consumers, and the reviewers of results.
 */
export function partiesOf(
  { owner }: Pick<StoredComputation, 'owner'>,
  {
    algorithm,
    datasets,
    providers,
    consumers,
    result_review,
    acts,
  }: Pick<Definition, 'providers' | 'consumers' | 'result_review' | 'acts'> & Files,
): Party[] {
  const creators = [...(algorithm ? [algorithm] : []), ...datasets].map(({ created_by }) => created_by);
  const byKey = acts.filter(({ is_consumer }) => is_consumer).map(({ user_id }) => user_id);
  const parts = {
    owner: new Set([owner]),
    provider: new Set([...creators, ...providers]),
    consumer: new Set([owner, ...(consumers.length > 0 ? consumers : byKey)]),
    reviewer: new Set(result_review?.reviewers),
  };
  const named = [...providers, ...consumers, ...parts.reviewer];
  const active = new Set([owner, ...acts.map(({ user_id }) => user_id)]);
  return [...new Set([owner, ...parts.provider, ...parts.consumer, ...parts.reviewer])].map((user) => ({
    user,
    parts: (['owner', 'provider', 'consumer', 'reviewer'] as const).filter((part) => parts[part].has(user)),
    invited: named.includes(user) && !active.has(user),
  }));
}
