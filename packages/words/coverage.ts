import { type Client, type KeyOwners, readKeyOwners, type Schemas, wholeAnswer } from 'computation-management-client';
import {
  type Configuration,
  configurationOfComputation,
  type Limits,
  type CoveredReview,
} from 'computation-management-formats/consent';
import { canonicalDigest, hashOfBytes } from 'computation-management-formats/digests';
import { nearHostIn } from 'computation-management-formats/public-address';
import { quotedName, userText, plainName } from 'computation-management-formats/quoted-name';
import { policyCautions, policyLines, type Fetched } from './lines.ts';
import { type DescribedManifest, describeManifest } from './manifest.ts';

type Manifest = Schemas['Manifest'];

/** Everything that an approval of a computation covers, and what it does not protect from. */
export interface Coverage extends DescribedManifest {
  manifest: Manifest;
  configuration: Configuration;
  /** The SHA3-256 of the canonical JSON of the manifest, 64 hex digits, computed here. */
  manifest_digest: string;
  /** The SHA3-256 of the canonical JSON of the configuration, 64 hex digits, computed here. */
  configuration_digest: string;
  /** The risks that the approval does not protect from, one sentence for each risk. */
  cautions: string[];
}

/**
 * The error of a service that contradicts itself, so that nothing that the service returned can be approved. The message says where it
 * does, and what to do.
 */
export class ContradictionError extends Error {
  override readonly name = 'ContradictionError';
}

/**
 * Reads the manifest of a computation, and describes what an approval of the manifest and of the computation's configuration covers.
 * @throws ContradictionError if the service names other digests than those of what it returned, or returned another computation
 * @throws ServiceProblem `incomplete` while there is no manifest, and any other
 */
export async function readCoverage(
  client: Client,
  { id, computation, signal }: { id: string; computation: Schemas['Computation']; signal?: AbortSignal | undefined },
): Promise<Coverage> {
  const { data: manifest, ...served } = wholeAnswer(await client.call('getManifest', { id, signal }));
  if (computation.id !== id || manifest.id !== id) {
    throw new ContradictionError('The service returned another computation than the one asked for.');
  }
  const configuration = configurationOfComputation(computation);
  // defence
  if (served.digest !== canonicalDigest(manifest) || served.configurationDigest !== canonicalDigest(configuration)) {
    throw new ContradictionError(
      'The service names other digests than those of the manifest and the configuration that it returned. Nothing was approved. If they were just changed, try again.',
    );
  }
  return describeCoverage(manifest, configuration, await readKeyOwners(client, computation, signal));
}

/** Reads the newest event of a computation's journal, which an approval names as the history that its user saw. */
export async function readJournalHead(
  client: Client,
  id: string,
  signal?: AbortSignal,
): Promise<Pick<Schemas['Event'], 'id' | 'hash'> | undefined> {
  const [newest] = (await client.listEvents({ id, limit: 1, signal })).events;
  return newest && { id: newest.id, hash: newest.hash };
}

/**
 * Describes what an approval of a manifest and a configuration covers.
 * @param owners the users who bring the files, and whose keys the manifest has
 */
export function describeCoverage(manifest: Manifest, configuration: Configuration, owners: KeyOwners): Coverage {
  const described = describeManifest(manifest, owners);
  return {
    manifest,
    configuration,
    manifest_digest: canonicalDigest(manifest),
    configuration_digest: canonicalDigest(configuration),
    ...described,
    cautions: cautionsOf(manifest, configuration, described),
  };
}

/** The texts for the levels of approval, which say whose approval a run needs and whether with a signature. */
export const approvalTexts: Record<Configuration['approval'], string> = {
  none: 'Only where an asset asks for it',
  all: 'Every party approves',
  all_signed: 'Every party approves, with a signature',
};

/** The words in place of the owner of a file or key whom the service does not name. */
export const nobody = 'nobody whom the service names';

/** Returns the risks that an approval does not protect from, one sentence for each risk. */
function cautionsOf({ algorithm, datasets }: Manifest, covered: Configuration, described: DescribedManifest): string[] {
  const { agent_config, attestation_policy: policy, log_access, result_review } = covered;
  const ownerless = [
    ...described.files.filter(({ asset }) => asset?.created_by === undefined),
    ...described.receivers.filter(({ users }) => users?.length === 0),
  ].map(({ fingerprint }) => fingerprint);
  return [
    policy === null
      ? 'Any machine may run this: no attestation is asked for, so nothing proves what it runs on.'
      : 'The evidence of a machine does not name what it works on: who operates the service can give the same machine another computation.',
    ...(policy ? policyCautions(policy) : []),
    ...(policy?.allow_debug === true ? ['The host of the machine may debug it, and so read everything in it.'] : []),
    ...(agent_config.attested_tls
      ? []
      : ['TLS is not attested: a connection to the agent does not prove that it ends in a confidential machine.']),
    ...(log_access === 'parties'
      ? ['All parties may read the logs of a run, and an algorithm can write any data into them.']
      : []),
    ...(result_review ? reviewCautions(result_review, described) : []),
    ...(algorithm.source ? [] : ['The arguments of the algorithm are not covered: its provider gives them to the agent.']),
    ...cautionsOfAddresses([algorithm, ...datasets]),
    ...described.files.flatMap(({ asset }, index) => {
      const file = [algorithm, ...datasets][index];
      return asset && file && hasKeyHere({ id: asset.id, source: file.source }) ? [keyCaution(asset)] : [];
    }),
    ...[...new Set(ownerless)].map((fingerprint) => `The key ${fingerprint} belongs to ${nobody}.`),
    'No digest covers who the parties are, sizes, or the name of the algorithm: the service says them. Compare each fingerprint with its owner.',
  ];
}

/** Returns what a review of results does not protect from, one sentence for each risk. */
function reviewCautions({ reviewers, needed }: CoveredReview, { files }: DescribedManifest): string[] {
  const providers = new Set(files.flatMap(({ asset }) => asset?.created_by ?? []));
  const both = reviewers.filter((user) => providers.has(user));
  return [
    'Who operates the service can read a result that is handed in for review.',
    'The agent does not sign results: a reviewer can hand in another file than the result.',
    ...both.map((user) => `${userText(user)} brings a file and reviews results, and can hold them back.`),
    ...(needed === reviewers.length ? ['Every reviewer must release a result: one who is lost withholds it for ever.'] : []),
  ];
}

/** The words for the hosts near a machine from which its agent may fetch. */
const nearHosts = {
  loopback: 'the machine itself: whoever runs the machine decides what it gets there',
  'link-local': "the machine's own link, where clouds give machines their credentials",
};

/** Returns a sentence for each address near the machine from which the agent fetches files or their keys. */
function cautionsOfAddresses(files: Pick<Manifest['algorithm'], 'source' | 'kbs'>[]): string[] {
  const addresses = new Set(files.flatMap(({ source, kbs }) => [source?.url, kbs?.url]));
  return [...addresses].flatMap((address = '') => {
    const near = nearHostIn(address);
    return near ? [`The agent fetches from ${quotedName(address)}, which is ${nearHosts[near]}.`] : [];
  });
}

/** A fact of a computation's configuration, with a label. */
export interface Fact {
  label: string;
  /** The fact in words, in one or more lines. */
  lines: string[];
  /** The mark of a fact that protects the parties, or that is a risk. Undefined for all other facts. */
  mark?: 'protects' | 'risk' | undefined;
  /** The whole certificate in PEM, if the fact is about a certificate. `lines` has its hash. */
  pem?: string | undefined;
}

/**
 * Describes the configuration of a computation as labelled facts.
 * @param limits the CVMs and the end to which an approval of the configuration is limited
 */
export function describeConfiguration(configuration: Configuration, { cvm_ids, expires_at }: Limits = {}): Fact[] {
  const { agent_config, approval, attestation_policy: policy, log_access, result_review } = configuration;
  const only = cvm_ids?.length ? [`Only the CVMs ${cvm_ids.map(quotedName).join(', ')}`] : [];
  return [
    {
      label: 'Machines',
      lines: [...only, ...(policy ? policyLines(policy) : ['Any: no attestation is asked for'])],
      mark: policy ? undefined : 'risk',
    },
    ...(expires_at === undefined ? [] : [{ label: 'Until', lines: [`Only runs that start before ${expires_at}`] }]),
    {
      label: 'TLS of the agent',
      lines: [agent_config.attested_tls ? 'Attested' : 'Not attested'],
      mark: agent_config.attested_tls ? 'protects' : 'risk',
    },
    { label: 'Certificate of the agent', ...certificate(agent_config.cert_file) },
    { label: 'CA of the server', ...certificate(agent_config.server_ca_file) },
    { label: 'CA of the clients', ...certificate(agent_config.client_ca_file) },
    { label: 'Whose approval a run needs', lines: [approvalTexts[approval]] },
    ...(result_review ? [reviewFact(result_review)] : []),
    {
      label: 'Who reads the logs of a run',
      lines: [log_access === 'none' ? 'Nobody' : 'All parties'],
      mark: log_access === 'none' ? undefined : 'risk',
    },
  ];
}

function reviewFact({ reviewers, needed, consumers }: CoveredReview): Fact {
  const lines = [
    `Reviewed by ${reviewers.map(userText).join(', ')}`,
    `Released by ${needed} of ${reviewers.length} to ${consumers.map(userText).join(', ')}`,
  ];
  return { label: 'Who gets the result', lines, mark: 'protects' };
}

function certificate(file: string): Pick<Fact, 'lines' | 'pem'> {
  if (file === '') return { lines: ['None'] };
  if (!file.includes('\n')) return { lines: [`The file ${quotedName(file)} in the CVM`] };
  return { lines: ['Given as text', `SHA-256 ${hashOfBytes(new TextEncoder().encode(file))}`], pem: file };
}

/** The words for who can open the key of a file, to the user who gave the file its key. */
export const keyHolders: Record<Schemas['AssetKey']['held'], string> = {
  party: 'you, with cms broker',
  service: 'the operator of this service, and you',
};

/** Returns whether agents ask this service for the key of a file, by the path of the key. @param file the file and the asset it is of */
export function hasKeyHere({ id, source }: Pick<Fetched, 'source'> & { id: string }): boolean {
  return source?.kbs_resource_path === `${id}/key/1`;
}

/** Returns to what the key of a file is bound, and who can open the file elsewhere. */
export function keyCaution({ file_name, created_by }: Pick<Schemas['AssetRow'], 'file_name' | 'created_by'>): string {
  const creator = userText(created_by);
  return `The key of ${plainName(file_name)} goes only to the machine of an approved run that the policies allow. Who holds it is not covered: ${creator}, or the operator of this service for ${creator}. Its holder can open the file anywhere.`;
}
