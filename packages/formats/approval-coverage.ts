import type { Configuration, Limits } from './approval-text.ts';
import { policyLines } from './attestation.ts';
import { plainName, quotedName } from './quoted-name.ts';
import { fetchLines } from './source.ts';

type File = { hash: readonly number[]; user_key: string } & Parameters<typeof fetchLines>[0];

/** What an approval covers, as the service returns it. */
interface Covered {
  manifest: {
    id: string;
    name: string;
    description: string;
    algorithm: File;
    datasets: readonly (File & { filename: string })[];
    result_consumers: readonly { user_key: string }[];
  };
  /** Undefined: only the manifest is described. */
  configuration?: Configuration | undefined;
  limits?: Limits;
  /** The linked dataset of this name, or the algorithm, and the users with a key. Undefined: the service was not asked. */
  owners?:
    | {
        assetOf: (
          dataset?: string,
        ) => { file_name: string; mime_type: string; size: number | null; created_by: string } | undefined;
        usersWith: (fingerprint: string) => string[];
      }
    | undefined;
}

interface Writing {
  sizeText: (size: number | null) => string;
  fingerprintOf: (key: string) => string;
  sha256: (text: string) => string;
}

/** A label and what stands beside it, a line for each fact. Names of others are always quoted. */
export interface CoverageRow {
  label: string;
  lines: string[];
}
export interface CoverageSection {
  title: string;
  rows: CoverageRow[];
}

/** Says all that an approval covers, and what it does not. The console and `cms` show the same. */
export function coverageOf({ manifest, configuration, limits = {}, owners }: Covered, writing: Writing): CoverageSection[] {
  const { sizeText, fingerprintOf } = writing;
  const byService = (users: readonly (string | undefined)[]) =>
    users.flatMap((user) => (user === undefined ? [] : [quotedName(user)])).join(', ') || 'nobody whom the service names';
  const keyText = (key: string, users: readonly (string | undefined)[]) =>
    `key ${fingerprintOf(key)}${owners ? ` of ${byService(users)}` : ''}`;
  const input = (label: string, file: File, dataset?: string): CoverageRow => {
    const asset = owners?.assetOf(dataset);
    const name = dataset ?? asset?.file_name;
    const facts = asset ? [asset.mime_type === '' ? 'no media type' : plainName(asset.mime_type), sizeText(asset.size)] : [];
    return {
      label,
      lines: [
        ...(owners ? [`brought by ${byService([asset?.created_by])}`] : []),
        ...(name === undefined ? [] : [[quotedName(name), ...facts].join(', ')]),
        `SHA3-256 ${groupedHash(file.hash)}`,
        keyText(file.user_key, [asset?.created_by]),
        ...fetchLines(file).map(quotedIfStrange),
      ],
    };
  };
  const { id, name, description, algorithm, datasets, result_consumers } = manifest;
  return [
    {
      title: 'What is computed',
      rows: [
        { label: 'Computation', lines: [quotedName(name), id] },
        { label: 'Description', lines: [description === '' ? 'none' : quotedName(description)] },
      ],
    },
    {
      title: 'Who brings what',
      rows: [input('Algorithm', algorithm), ...datasets.map((file, index) => input(`Dataset ${index + 1}`, file, file.filename))],
    },
    {
      title: 'Who receives the result',
      rows: result_consumers.map(({ user_key }, index) => ({
        label: `Consumer ${index + 1}`,
        lines: [keyText(user_key, owners?.usersWith(fingerprintOf(user_key)) ?? [])],
      })),
    },
    ...(configuration ? ofConfiguration(configuration, limits, { writing, isSentByProvider: !algorithm.source }) : []),
  ];
}

function ofConfiguration(
  { agent_config: config, approval, attestation_policy, log_access }: Configuration,
  { cvm_ids, expires_at }: Limits,
  { writing: { sha256 }, isSentByProvider }: { writing: Writing; isSentByProvider: boolean },
): CoverageSection[] {
  const fileText = (file: string, none: string) => {
    if (file === '') return none;
    return file.includes('\n') ? `given as text, SHA-256 ${sha256(file)}` : `the file ${quotedName(file)} in the CVM`;
  };
  return [
    {
      title: 'On which machines',
      rows: [
        {
          label: 'CVMs',
          lines: [cvm_ids?.length ? `only ${cvm_ids.map(quotedName).join(', ')}` : 'any that whoever starts a run names'],
        },
        { label: 'Attestation', lines: policyLines(attestation_policy) },
        ...(expires_at === undefined ? [] : [{ label: 'Until', lines: [`only runs that start before ${expires_at}`] }]),
      ],
    },
    {
      title: 'How',
      rows: [
        {
          label: 'TLS',
          lines: [config.attested_tls ? 'attested: the agent proves itself when a party connects' : 'not attested'],
        },
        { label: 'Certificate', lines: [fileText(config.cert_file, 'none: connections to the agent are not encrypted')] },
        { label: 'Server CA', lines: [fileText(config.server_ca_file, 'none')] },
        { label: 'Client CA', lines: [fileText(config.client_ca_file, 'none: the agent asks clients for no certificate')] },
        { label: 'Approval', lines: [approvalWords[approval]] },
        { label: 'Logs', lines: [logWords[log_access]] },
      ],
    },
    {
      title: 'Not attested or not covered',
      rows: [
        ...(attestation_policy
          ? [{ label: 'Machine', lines: ['who operates it, and who holds the key of its certificate'] }]
          : [{ label: 'Machine', lines: ['nothing has to prove that it is a confidential VM, or what it runs'] }]),
        ...(config.attested_tls
          ? []
          : [{ label: 'Connection', lines: ['nothing proves to a party that it sends its file to the agent'] }]),
        {
          label: 'Owners',
          lines: ['whose a key is, sizes and media types: the service says so. Compare fingerprints with their owners'],
        },
        ...(isSentByProvider
          ? [{ label: 'Arguments', lines: ['those that the provider of the algorithm gives the agent'] }]
          : []),
        { label: 'Agent', lines: ['its log level, and the private key of its certificate'] },
      ],
    },
  ];
}

const approvalWords: Record<Configuration['approval'], string> = {
  none: 'needed only of those whose files ask for it',
  all: 'needed of everyone who brings a file or receives the result',
  all_signed: 'needed, and signed, of everyone who brings a file or receives the result',
};

const logWords: Record<Configuration['log_access'], string> = {
  none: "nobody reads the agent's log through the service",
  parties: "the parties may read the agent's log through the service",
};

/** Returns a hash in groups of 8 hex digits, which people compare. */
function groupedHash(bytes: readonly number[]): string {
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.match(/.{1,8}/g)?.join(' ') ?? 'none';
}

/** The lines of an agent's inputs hold addresses and arguments, in ASCII but for arguments. */
function quotedIfStrange(line: string): string {
  return /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(line) ? line : quotedName(line);
}
