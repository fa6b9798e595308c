import { type CoveredReview, coveredReviewOf, type Configuration, configurationOf } from 'computation-management-formats/consent';
import { plainName } from 'computation-management-formats/quoted-name';
import { canonicalDigest } from 'computation-management-formats/digests';
import { arrayOf, described, namedObject, shownDescription, shownText } from 'computation-management-formats/fields';
import { algorithmByAgent, decompressByAgent, fetchedByAgent } from 'computation-management-formats/source';
import { idOfComputation } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { type StoredAsset, assetKey, findAsset } from './asset.ts';
import type { StoredAgentConfig } from './agent-config.ts';
import { assetsPerComputation, datasetsPerComputation, nameOfComputation, type StoredComputation } from './computation.ts';
import {
  type StoredApproval,
  parseApproval,
  parseRefusal,
  type StoredRefusal,
  parseUsedRuns,
  type UsedRuns,
} from './stored-approval.ts';
import { type Table, getItems, queryPartition, type Item } from '../table/table.ts';
import { computationKeys } from '../table/keys.ts';
import { parseStored } from '../table/stored.ts';
import { type Definition, parseDefinition } from './definition.ts';

const hash = v.pipe(
  v.array(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(255))),
  v.length(32),
  v.description('The SHA3-256 of the file, as 32 integers from 0 to 255.'),
);

const userKey = v.pipe(
  v.string(),
  v.base64(),
  v.minLength(1),
  v.description('The public key as DER SubjectPublicKeyInfo, base64.'),
  v.metadata({ maxLength: 16 * 1024 }),
);

const dataset = namedObject('ManifestDataset', 'A dataset of a run.', {
  hash,
  user_key: userKey,
  filename: v.pipe(shownText(255), v.minLength(1), v.description('The name of the file.')),
  ...fetchedByAgent,
  decompress: decompressByAgent,
});

/** Schema of the manifest of a run in the form that the agent reads. Any other form would crash the agent. */
export const manifestSchema = namedObject(
  'Manifest',
  'What a run uses, and who may fetch its result: the form that the agent in the CVM reads.',
  {
    id: idOfComputation,
    name: nameOfComputation,
    description: shownDescription,
    datasets: arrayOf(dataset, datasetsPerComputation, 'The datasets, in the order in which they were linked.'),
    algorithm: namedObject('ManifestAlgorithm', 'The algorithm of a run.', {
      hash,
      user_key: userKey,
      ...fetchedByAgent,
      ...algorithmByAgent,
    }),
    result_consumers: v.pipe(
      v.array(
        namedObject('ManifestConsumer', 'The key of a user to whom the agent gives the result of a run.', { user_key: userKey }),
      ),
      v.minLength(1),
      v.description(
        'The keys of the users to whom the agent gives the result, the owner first. With a review, the reviewers alone.',
      ),
    ),
  },
);
export type Manifest = v.InferOutput<typeof manifestSchema>;

/** Schema of the list of what is missing before a run of a computation can start. */
export const missingItemsSchema = namedObject(
  'MissingItems',
  'What is missing before a run. If all lists are empty, the computation is ready to run.',
  {
    keys: described(v.array(shownText(255)), 'The users who must upload their public key.'),
    hashes: arrayOf(shownText(255), assetsPerComputation, 'The file names of linked assets without content.'),
    info: v.pipe(
      v.array(shownText(1_000)),
      v.description('Everything else that is missing, as sentences.'),
      v.examples([['Missing algorithm']]),
    ),
  },
);
export type MissingItems = v.InferOutput<typeof missingItemsSchema>;

/**
 * The inputs of a run that are stored beside the row of the computation, with the identifiers of assets in place of the assets'
 * rows.
 */
export interface Parts extends Omit<Definition, 'algorithm' | 'datasets'> {
  /**
   * The identifiers of the assets linked to a computation: the algorithm, then the datasets in the order in which they were
   * linked.
   */
  assetIds: string[];
  keys: ParticipantKey[];
  approvals: StoredApproval[];
  refusals: StoredRefusal[];
  used_runs: UsedRuns;
}

/** The inputs of a run of a computation, as they are stored now. */
export interface Inputs extends Omit<Parts, 'assetIds'> {
  computation: StoredComputation;
  algorithm: StoredAsset | undefined;
  /** The rows of the datasets that a run uses, in the order in which the datasets were linked. */
  datasets: StoredAsset[];
}

/** The largest manifest in bytes. Together with the agent's configuration it fits into one DynamoDB item and one gRPC message. */
const manifestLimitInBytes = 256 * 1024;

/**
 * Builds the manifest of a run, or says what is missing before a run, without approvals (docs/contract.md, sections 5 and 9). The
 * key of a provider is that of the asset, otherwise the one that the asset's creator uploaded.
 */
export function buildManifest(
  inputs: Inputs,
): { manifest: Manifest; missing?: never } | { missing: MissingItems; manifest?: never } {
  const { computation, agent_config, algorithm, keys, result_review } = inputs;
  const assets = assetsOf(inputs);
  const fetching = result_review?.reviewers ?? [computation.owner];

  const missing: MissingItems = {
    keys: unique([
      ...assets.filter((asset) => !providerKey(inputs, asset)).map((asset) => asset.created_by),
      ...fetching.filter((user) => keyOf(keys, user) === undefined),
    ]),
    hashes: assets.filter((asset) => asset.state === 'pending' || asset.checksum === null).map((asset) => asset.file_name),
    info: [...(algorithm ? [] : ['Missing algorithm']), ...configurationGaps(agent_config), ...assets.flatMap(keyBrokerGap)],
  };
  if (!algorithm || missing.keys.length + missing.hashes.length + missing.info.length > 0) return { missing };

  const manifest = v.parse(manifestSchema, draftOf(inputs));
  const size = Buffer.byteLength(JSON.stringify(manifest));
  if (size <= manifestLimitInBytes) return { manifest };
  const tooLarge = `The manifest would have ${size} bytes, but the limit is ${manifestLimitInBytes}: use fewer result consumers or shorter keys`;
  return { missing: { ...missing, info: [tooLarge] } };
}

/** Returns the parts of a run's manifest that are known so far, in the order of the manifest's fields. */
export function draftOf(inputs: Inputs) {
  const { computation, algorithm, datasets } = inputs;
  const file = (asset: StoredAsset) => ({ hash: hashOf(asset), user_key: providerKey(inputs, asset) });
  return {
    id: computation.id,
    name: computation.name,
    description: computation.description,
    datasets: datasets.map((asset) => ({ ...file(asset), filename: asset.file_name, ...fetchedIn(asset) })),
    algorithm: algorithm && { ...file(algorithm), ...fetchedIn(algorithm) },
    result_consumers: keysForResult(inputs).map(({ user_key }) => ({ user_key })),
  };
}

/**
 * Returns the manifest's fields that tell the agent to fetch a file from `source`, or, without an address, the key of a file that a party
 * sends encrypted. The agent fetches only if `kbs` is enabled,
 * also a file that is not encrypted. It tells the type of the source from the URL.
 */
function fetchedIn({ source, kbs, decompress, algo_type, algo_args }: StoredAsset) {
  if (!source) return {};
  const { url, kbs_resource_path } = source;
  return {
    source: {
      ...(url === undefined ? {} : { url }),
      ...(kbs_resource_path === undefined ? {} : { kbs_resource_path, encrypted: true as const }),
    },
    kbs: { ...kbs, enabled: true as const },
    ...(decompress ? { decompress } : {}),
    ...(algo_type ? { algo_type } : {}),
    ...(algo_args && algo_args.length > 0 ? { algo_args } : {}),
  };
}

function keyBrokerGap({ file_name, source, kbs }: StoredAsset): string[] {
  return source?.kbs_resource_path !== undefined && !kbs
    ? [`source.kbs_resource_path of ${plainName(file_name)} is set without kbs`]
    : [];
}

function keyOf(keys: ParticipantKey[], user: string): string | undefined {
  return keys.find(({ user_id }) => user_id === user)?.user_key;
}

function providerKey({ keys }: Inputs, { user_key, created_by }: StoredAsset): string | undefined {
  return user_key || keyOf(keys, created_by);
}

/**
 * The things that parties of a computation approve: the configuration and the manifest with their digests, or what is missing for a
 * manifest.
 */
type Approvable = { configuration: Configuration; configuration_digest: string } & (
  { manifest: Manifest; digest: string; missing?: never } | { missing: MissingItems; manifest?: never; digest?: never }
);

/** Returns what the parties of a computation approve, or what is missing for it. */
export function approvableOf(inputs: Inputs): Approvable {
  const { manifest, missing } = buildManifest(inputs);
  const { agent_config, attestation_policy, computation } = inputs;
  const configuration = configurationOf({ ...computation, agent_config, attestation_policy, result_review: reviewOf(inputs) });
  const configured = { configuration, configuration_digest: canonicalDigest(configuration) };
  return manifest ? { ...configured, manifest, digest: canonicalDigest(manifest) } : { ...configured, missing };
}

/** Returns the rows of the assets that are linked to a computation: the algorithm first, then the datasets. */
export function assetsOf({ algorithm, datasets }: Inputs): StoredAsset[] {
  return [...(algorithm ? [algorithm] : []), ...datasets];
}

/**
 * Returns the review of results as approvals cover it: with the users who get a released result, which the manifest does not
 * name. Null without a review.
 */
export function reviewOf({ computation, consumers, result_review }: Inputs): CoveredReview | null {
  return coveredReviewOf(result_review, { owner: computation.owner, consumers });
}

/** Lists the users who get the results of a computation: with a review, those who get a released one, else `keysForResult`. */
export function resultConsumers(inputs: Inputs): string[] {
  return reviewOf(inputs)?.consumers ?? keysForResult(inputs).map(({ user_id }) => user_id);
}

/**
 * Returns the public keys of the users to whom the agent gives the result of a run: with a review the reviewers alone, else the
 * consumers, the owner first. If the computation names no consumers, these are all users who had the role result_consumer when
 * they uploaded their key.
 */
export function keysForResult({ computation, consumers, keys, result_review }: Inputs): ParticipantKey[] {
  if (result_review) {
    return result_review.reviewers.flatMap((user) => keys.find(({ user_id }) => user_id === user) ?? []);
  }
  const isNamed = (key: ParticipantKey) => (consumers.length > 0 ? consumers.includes(key.user_id) : key.is_consumer); // defence
  return keys.filter((key) => key.user_id === computation.owner || isNamed(key)).sort(ownerFirst(computation.owner));
}

function configurationGaps(config: StoredAgentConfig): string[] {
  if (config.server_key && !config.cert_file) return ['agent_config.server_key is set without agent_config.cert_file'];
  if (config.cert_file && !config.server_key) return ['agent_config.cert_file is set without agent_config.server_key'];
  return [];
}

function hashOf({ checksum }: StoredAsset): number[] | undefined {
  return checksum === null ? undefined : [...Buffer.from(checksum, 'hex')];
}

function ownerFirst(owner: string) {
  const isOwner = ({ user_id }: ParticipantKey) => Number(user_id === owner);
  return (a: ParticipantKey, b: ParticipantKey) =>
    isOwner(b) - isOwner(a) || a.uploaded_at.localeCompare(b.uploaded_at) || a.user_id.localeCompare(b.user_id);
}

function unique(texts: string[]): string[] {
  return [...new Set(texts)];
}

/**
 * Reads what a run of a computation would use, in two round trips. A deleted asset counts as not linked.
 * @param computation the row, read before. Any later change of the inputs changes its `version`
 */
export async function readInputs(table: Table, domain: string, computation: StoredComputation): Promise<Inputs> {
  const parts = await readParts(table, computation.id);
  const keys = parts.assetIds.map((assetId) => assetKey(domain, assetId));
  return inputsOf(computation, parts, await getItems(table, keys));
}

/** Reads the inputs of a run that are stored beside the row of the computation, in one round trip for each MB. */
export async function readParts(table: Table, computationId: string): Promise<Parts> {
  const { key, approval, refusal } = computationKeys.prefixes;
  const items = await queryPartition(table, computationKeys.partition(computationId));
  const startingWith = (prefix: string) => items.filter((item) => String(item['sk']).startsWith(prefix));
  const { algorithm, datasets, ...rest } = parseDefinition(items);
  return {
    ...rest,
    assetIds: [...(algorithm ? [algorithm] : []), ...datasets].map((link) => link.asset_id),
    keys: startingWith(key).map(parseParticipantKey),
    approvals: startingWith(approval).map(parseApproval),
    refusals: startingWith(refusal).map(parseRefusal),
    used_runs: parseUsedRuns(items.find(({ sk }) => sk === computationKeys.usedRuns(computationId).sk)),
  };
}

/**
 * Joins what was read of a computation to the inputs of a run. Leaves out assets that are deleted.
 * @param assetItems the rows of the assets in `assetIds`, in their order
 */
export function inputsOf(computation: StoredComputation, parts: Parts, assetItems: (Item | undefined)[]): Inputs {
  const { assetIds, ...rest } = parts;
  const assets = assetIds.flatMap((assetId, index) => findAsset(assetItems[index], assetId) ?? []);
  return {
    computation,
    ...rest,
    algorithm: assets.find((asset) => asset.asset_type === 'algorithm'),
    datasets: assets.filter((asset) => asset.asset_type === 'dataset'),
  };
}

const participantKey = v.object({
  user_id: v.string(),
  /** The public key of a user who takes part in a computation: base64 of a DER SubjectPublicKeyInfo. */
  user_key: v.string(),
  fingerprint: v.string(),
  is_consumer: v.boolean(),
  uploaded_at: v.string(),
});

/** The public key that a user uploaded to a computation. */
export type ParticipantKey = v.InferOutput<typeof participantKey>;

export function parseParticipantKey(item: Item): ParticipantKey {
  return parseStored(participantKey, item, 'participant key');
}
