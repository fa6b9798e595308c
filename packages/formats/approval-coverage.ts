import { approvalTexts, cautionsOf } from './approval-cautions.ts';
import type { Configuration, Limits } from './approval-text.ts';
import { policyLines } from './attestation.ts';
import { plainName, quotedName } from './quoted-name.ts';
import { fetchLines } from './source.ts';

type File = { hash: readonly number[]; user_key: string } & Parameters<typeof fetchLines>[0];

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

/** With what it does not cover. The console and `cms` show the same. */
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
  const ofNobody = [
    ...[algorithm, ...datasets].filter((file) => !owners?.assetOf('filename' in file ? String(file.filename) : undefined)),
    ...result_consumers.filter(({ user_key }) => !owners?.usersWith(fingerprintOf(user_key)).length),
  ];
  const ownerless = [...new Set(ofNobody.map(({ user_key }) => fingerprintOf(user_key)))];
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
      title: 'Who receives the results',
      rows: result_consumers.map(({ user_key }, index) => ({
        label: `Receiver ${index + 1}`,
        lines: [keyText(user_key, owners?.usersWith(fingerprintOf(user_key)) ?? [])],
      })),
    },
    ...(configuration ? ofConfiguration(configuration, limits, writing) : []),
    ...(configuration
      ? [
          {
            title: 'What this does not protect from',
            rows: cautionsOf({ manifest, configuration, ownerless }).map((caution) => ({ label: '!', lines: [caution] })),
          },
        ]
      : []),
  ];
}

function ofConfiguration(
  { agent_config: config, approval, attestation_policy, log_access }: Configuration,
  { cvm_ids, expires_at }: Limits,
  { sha256 }: Writing,
): CoverageSection[] {
  const fileLines = (file: string) => {
    if (file === '') return ['None'];
    return file.includes('\n') ? ['Given as text', `SHA-256 ${sha256(file)}`] : [`The file ${quotedName(file)} in the CVM`];
  };
  const only = cvm_ids?.length ? [`Only the CVMs ${cvm_ids.map(quotedName).join(', ')}`] : [];
  return [
    {
      title: 'On which machines, and how',
      rows: [
        {
          label: 'Machines',
          lines: [...only, ...(attestation_policy ? policyLines(attestation_policy) : ['Any: no attestation is asked for'])],
        },
        ...(expires_at === undefined ? [] : [{ label: 'Until', lines: [`Only runs that start before ${expires_at}`] }]),
        { label: 'TLS of the agent', lines: [config.attested_tls ? 'Attested' : 'Not attested'] },
        { label: 'Certificate of the agent', lines: fileLines(config.cert_file) },
        { label: 'CA of the server', lines: fileLines(config.server_ca_file) },
        { label: 'CA of the clients', lines: fileLines(config.client_ca_file) },
        { label: 'Whose approval a run needs', lines: [approvalTexts[approval]] },
        { label: 'Who reads the logs of a run', lines: [log_access === 'none' ? 'Nobody' : 'All parties'] },
      ],
    },
  ];
}

/** In groups of 8 hex digits, which people compare. */
function groupedHash(bytes: readonly number[]): string {
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.match(/.{1,8}/g)?.join(' ') ?? 'none';
}

/** The lines of an agent's inputs hold addresses and arguments, in ASCII but for arguments. */
function quotedIfStrange(line: string): string {
  return /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/.test(line) ? line : quotedName(line);
}
