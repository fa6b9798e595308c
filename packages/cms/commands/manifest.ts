import { createHash } from 'node:crypto';
import type { Command } from 'commander';
import { type KeyOwners, type Schemas, wholeAnswer } from 'computation-management-client';
import type { Configuration } from 'computation-management-formats/approval-text';
import { policyLines } from 'computation-management-formats/attestation';
import { canonicalDigest } from 'computation-management-formats/digests';
import { printable } from 'computation-management-formats/printable';
import { fetchLines } from 'computation-management-formats/source';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { computationId, nextRun } from '../context/computation-reference.ts';
import type { WrapAction } from '../context/context.ts';
import { formatMissing, isNothing, missingItems, namesApproval } from '../context/missing-items.ts';
import { whyStale } from '../context/stale-approvals.ts';
import { exitCodes } from '../terminal/cms-error.ts';
import { details } from '../terminal/table.ts';

export function addManifestCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('manifest')
    .description('show the manifest: what a run uses, and who gets its results')
    .argument('[COMPUTATION]', 'its identifier or name')
    .option('--run <RUN>', 'the manifest that this run was started with')
    .action(
      wrapAction(async (context, reference: string | undefined, { run }: { run?: string }) => {
        const connection = await context.connect();
        const id = await computationId(context, connection, reference);
        const manifest = await connection.client.getManifest({ id, run });
        context.print(manifest, () => formatManifest(manifest));
      }),
    );
}

export function addCheckCommand(program: Command, wrapAction: WrapAction): void {
  program
    .command('check')
    .description('check what is missing before a run, and who must provide it')
    .argument('[COMPUTATION]', 'its identifier or name')
    .action(
      wrapAction(async (context, reference: string | undefined) => {
        const connection = await context.connect();
        const { client, user } = connection;
        const id = await computationId(context, connection, reference);
        const { name, approval, assets } = await client.getComputation({ id });
        const { data, digest: manifest_digest } = wholeAnswer(await client.call('dryRun', { id }));
        const { missing_items, warnings = [] } = data;
        const isReady = isNothing(missing_items);
        const isStale = !context.isJson && namesApproval(missing_items);
        const stale = isStale ? await whyStale(context, connection, id) : '';
        context.print({ computation: id, ready: isReady, missing_items, warnings, manifest_digest }, () =>
          isReady
            ? `${printable(name)} is ready to run.\n`
            : `${printable(name)} is not ready. Missing:\n${formatMissing(missingItems(missing_items, { id, isSigned: approval === 'all_signed', assets }), { user, command: context.command })}${stale}`,
        );
        for (const warning of context.isJson ? [] : warnings) context.note(`Warning: ${printable(warning)}.\n`);
        if (!isReady) context.exitWith(exitCodes.incomplete);
        else if (!context.isJson) context.note(await nextRun(context, connection, id));
      }),
    );
}

type Manifest = Schemas['Manifest'];

/** Formats all that an approval covers, with the owners of the keys and the digests, computed here. */
export function formatApproved(
  manifest: Manifest,
  owners: KeyOwners,
  { agent_config: config, ...configuration }: Configuration,
): string {
  const { approval, attestation_policy, log_access } = configuration;
  return (
    formatManifest(manifest, owners) +
    details([
      ['TLS', config.attested_tls ? 'attested' : 'not attested'],
      ['Certificate', fileText(config.cert_file)],
      ['Server CA', fileText(config.server_ca_file)],
      ['Client CA', fileText(config.client_ca_file)],
      ['Approval', approval],
      ['Attestation', policyLines(attestation_policy)],
      ['Logs', log_access],
      ['Configuration', canonicalDigest({ agent_config: config, ...configuration })],
    ])
  );
}

/** Formats a manifest: what a run would use, and who would get its results. */
function formatManifest(manifest: Manifest, owners?: KeyOwners): string {
  const { id, name, description, algorithm, datasets, result_consumers } = manifest;
  const linesOf = (file: Manifest['algorithm'] | Manifest['datasets'][number], dataset?: string) => [
    `SHA3-256 ${hex(file.hash)}`,
    keyText(file.user_key, owners && [owners.creatorOf(dataset)]),
    ...fetchLines(file),
  ];
  return details([
    ['Computation', name],
    ['Identifier', id],
    ['Description', description],
    ['Algorithm', linesOf(algorithm)],
    ['Datasets', datasets.flatMap((file) => [file.filename, ...linesOf(file, file.filename).map((line) => `  ${line}`)])],
    ['Consumers', result_consumers.map(({ user_key }) => keyText(user_key, owners?.usersWith(fingerprintOf(user_key))))],
    ['Digest', canonicalDigest(manifest)],
  ]);
}

/** @param owners as the service names them; undefined if it was not asked */
function keyText(key: string, owners: (string | undefined)[] | undefined): string {
  const named = owners?.filter((user) => user !== undefined).map((user) => JSON.stringify(user));
  return `the key ${fingerprintOf(key)}${named ? ` of ${named.join(', ') || 'nobody whom the service names'}` : ''}`;
}

function fingerprintOf(key: string): string {
  try {
    return parsePublicKey(key).fingerprint;
  } catch {
    return `that is invalid: ${key}`;
  }
}

/** Shortens the text of a certificate to its hash. A path inside the CVM is shown as it is. */
function fileText(file: string): string {
  if (file === '') return 'none';
  return file.includes('\n') ? `given as text, SHA-256 ${createHash('sha256').update(file).digest('hex')}` : file;
}

function hex(hash: readonly number[]): string {
  return Buffer.from(hash).toString('hex');
}
