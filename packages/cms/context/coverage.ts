import { createHash } from 'node:crypto';
import { type KeyOwners, readKeyOwners, type Schemas, sizeText, wholeAnswer } from 'computation-management-client';
import { coverageOf } from 'computation-management-formats/approval-coverage';
import { type Configuration, configurationOf, type Limits } from 'computation-management-formats/approval-text';
import { canonicalDigest } from 'computation-management-formats/digests';
import { parsePublicKey } from 'computation-management-formats/public-key';
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
  { manifest, configuration, owners }: Partial<Coverage> & Pick<Coverage, 'manifest'>,
  { columns = 110 }: Pick<Context['terminal'], 'columns'>,
  limits: Limits = {},
): string {
  const writing = { sizeText, fingerprintOf, sha256: (text: string) => createHash('sha256').update(text).digest('hex') };
  const sections = coverageOf({ manifest, configuration, owners, limits }, writing);
  const digests = {
    title: 'Digests',
    rows: [
      { label: 'Manifest', lines: [canonicalDigest(manifest)] },
      ...(configuration ? [{ label: 'Configuration', lines: [canonicalDigest(configuration)] }] : []),
    ],
  };
  return [...sections, digests]
    .map(({ title, rows }) => {
      const width = Math.max(...rows.map(({ label }) => label.length)) + 2;
      return `${title}\n${rows.map((row) => rowText(row, width, columns)).join('')}`;
    })
    .join('');
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
