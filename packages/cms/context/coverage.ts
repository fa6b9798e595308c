import { createHash } from 'node:crypto';
import { type KeyOwners, readKeyOwners, type Schemas, sizeText, wholeAnswer } from 'computation-management-client';
import { toHex } from 'computation-management-formats/bytes';
import { approvalTexts, cautionsOf } from 'computation-management-words';
import { type Configuration, configurationOf, type Limits } from 'computation-management-formats/approval-text';
import { policyLines } from 'computation-management-words';
import { canonicalDigest } from 'computation-management-formats/digests';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { plainName, quotedName } from 'computation-management-formats/quoted-name';
import { manifestLines } from 'computation-management-words';
import { CmsError, exitCodes } from '../terminal/cms-error.ts';
import { wrapped } from '../terminal/text.ts';
import type { Connection, Context } from './context.ts';

/** All that an approval covers, with the digests of it, computed here. */
export interface Coverage {
  manifest: Schemas['Manifest'];
  configuration: Configuration;
  manifest_digest: string;
  configuration_digest: string;
  owners: KeyOwners;
}

/**
 * Reads what an approval of a computation covers.
 * @throws CmsError if the service names other digests than those of what it returned; ServiceProblem, while there is no manifest
 */
export async function readCoverage(
  { typed }: Pick<Context, 'typed'>,
  { client }: Connection,
  computation: Schemas['ComputationView'] & Parameters<typeof configurationOf>[0],
  signal?: AbortSignal,
): Promise<Coverage> {
  const { id } = computation;
  const { data: manifest, ...served } = wholeAnswer(await client.call('getManifest', { id, signal }));
  const configuration = configurationOf(computation);
  const [manifest_digest, configuration_digest] = [canonicalDigest(manifest), canonicalDigest(configuration)];
  if (served.digest !== manifest_digest || served.configurationDigest !== configuration_digest) {
    throw new CmsError(
      'The service names other digests than those of the manifest and the configuration that it returned. Nothing was approved. If they were just changed, try again.',
      { next: typed, exitCode: exitCodes.conflict },
    );
  }
  const owners = await readKeyOwners(client, computation, signal);
  return { manifest, configuration, manifest_digest, configuration_digest, owners };
}

/** Formats what an approval covers and what it does not, or a manifest alone. */
export function formatCoverage(
  covered: Partial<Coverage> & Pick<Coverage, 'manifest'>,
  { columns = 110 }: Pick<Context['terminal'], 'columns'>,
  limits: Limits = {},
): string {
  return sectionsOf(covered, limits)
    .map(([title, rows]) => {
      const width = Math.max(...rows.map(({ label }) => label.length)) + 2;
      return `${title}\n${rows.map((row) => rowText(row, width, columns)).join('')}`;
    })
    .join('');
}

/** A label and what stands beside it, a line for each fact. Names of others are always quoted. */
interface Row {
  label: string;
  lines: string[];
}
type Section = [title: string, rows: Row[]];

function sectionsOf(
  { manifest, configuration, owners }: Partial<Coverage> & Pick<Coverage, 'manifest'>,
  limits: Limits,
): Section[] {
  const { id, name, description, algorithm, datasets, result_consumers, ...rest } = manifest;
  const others = manifestLines(rest);
  const byService = (users: readonly (string | undefined)[]) =>
    users.flatMap((user) => (user === undefined ? [] : [quotedName(user)])).join(', ') || 'nobody whom the service names';
  const keyText = (key: string, users: readonly (string | undefined)[]) =>
    `key ${fingerprintOf(key)}${owners ? ` of ${byService(users)}` : ''}`;
  const usersWith = (key: string) => owners?.usersWith(fingerprintOf(key)) ?? [];
  const input = (label: string, file: typeof algorithm, dataset?: string): Row => {
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
        ...manifestLines(file, ['hash', 'user_key', ...(dataset === undefined ? [] : ['filename'])]),
      ],
    };
  };
  const ofNobody = [
    ...(owners?.assetOf() ? [] : [algorithm]),
    ...datasets.filter(({ filename }) => !owners?.assetOf(filename)),
    ...result_consumers.filter(({ user_key }) => usersWith(user_key).length === 0),
  ];
  const ownerless = [...new Set(ofNobody.map(({ user_key }) => fingerprintOf(user_key)))];
  const cautions = configuration ? cautionsOf({ manifest, configuration, ownerless }) : [];
  return [
    [
      'What is computed',
      [
        { label: 'Computation', lines: [quotedName(name), id] },
        { label: 'Description', lines: [description === '' ? 'none' : quotedName(description)] },
        ...(others.length > 0 ? [{ label: 'Also', lines: others }] : []),
      ],
    ],
    [
      'Who brings what',
      [input('Algorithm', algorithm), ...datasets.map((file, index) => input(`Dataset ${index + 1}`, file, file.filename))],
    ],
    [
      'Who receives the results',
      result_consumers.map(({ user_key, ...receiver }, index) => ({
        label: `Receiver ${index + 1}`,
        lines: [keyText(user_key, usersWith(user_key)), ...manifestLines(receiver)],
      })),
    ],
    ...(configuration
      ? ([
          ['On which machines, and how', rowsOfConfiguration(configuration, limits)],
          ['What this does not protect from', cautions.map((caution) => ({ label: '!', lines: [caution] }))],
        ] satisfies Section[])
      : []),
    [
      'Digests',
      [
        { label: 'Manifest', lines: [canonicalDigest(manifest)] },
        ...(configuration ? [{ label: 'Configuration', lines: [canonicalDigest(configuration)] }] : []),
      ],
    ],
  ];
}

function rowsOfConfiguration(
  { agent_config: config, approval, attestation_policy, log_access }: Configuration,
  { cvm_ids, expires_at }: Limits,
): Row[] {
  const only = cvm_ids?.length ? [`Only the CVMs ${cvm_ids.map(quotedName).join(', ')}`] : [];
  return [
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
  ];
}

function fileLines(file: string): string[] {
  if (file === '') return ['None'];
  if (!file.includes('\n')) return [`The file ${quotedName(file)} in the CVM`];
  return ['Given as text', `SHA-256 ${createHash('sha256').update(file).digest('hex')}`];
}

/** What others have chosen never begins a line, where titles stand, and never stands where labels do, however long it is. */
function rowText({ label, lines }: { label: string; lines: string[] }, labelWidth: number, columns: number): string {
  const shown = lines.flatMap((line) => {
    const [first = '', ...more] = wrapped(line, Math.max(20, columns - labelWidth - 4));
    return [first, ...more.map((each) => `  ${each}`)];
  });
  return shown.map((line, index) => `  ${(index === 0 ? label : '').padEnd(labelWidth)}${line}\n`).join('');
}

function fingerprintOf(key: string): string {
  try {
    return parsePublicKey(key).fingerprint;
  } catch {
    return `that is invalid: ${JSON.stringify(key)}`;
  }
}

/** In groups of 8 hex digits, which people compare. */
function groupedHash(bytes: readonly number[]): string {
  return (
    toHex(bytes)
      .match(/.{1,8}/g)
      ?.join(' ') ?? 'none'
  );
}
