import { createHash } from 'node:crypto';
import type { Schemas } from 'computation-management-client';
import { canonicalDigest } from '../../shared/canonical-json.ts';
import { parsePublicKey } from '../../shared/keys/public-key.ts';
import { details } from './output/details.ts';

export type Manifest = Schemas['Manifest'];

/** Returns the digest of a manifest, computed here: it is what was read that is approved. */
export const digestOf = (manifest: Manifest) => canonicalDigest(manifest);

/**
 * Formats a manifest: what a run would use, and who would get its results.
 * @param config the agent's configuration, which an approval covers beside the manifest
 */
export function formatManifest(manifest: Manifest, config?: Schemas['ComputationView']['agent_config']): string {
  const { id, name, description, algorithm, datasets, result_consumers } = manifest;
  return details([
    ['Computation', name],
    ['Identifier', id],
    ['Description', description],
    ['Algorithm', `SHA3-256 ${hex(algorithm.hash)}`],
    ['Datasets', datasets.flatMap(({ filename, hash }) => [filename, `  SHA3-256 ${hex(hash)}`])],
    ['Consumers', result_consumers.map(({ user_key }) => `the key ${parsePublicKey(user_key).fingerprint}`)],
    ['TLS', config && (config.attested_tls ? 'attested' : 'not attested')],
    ['Certificate', config && fileText(config.cert_file)],
    ['Server CA', config && fileText(config.server_ca_file)],
    ['Client CA', config && fileText(config.client_ca_file)],
    ['Digest', digestOf(manifest)],
  ]);
}

/** Shortens the text of a certificate to its hash. A path inside the CVM is shown as it is. */
function fileText(file = ''): string {
  if (file === '') return 'none';
  return file.includes('\n') ? `given as text, SHA-256 ${createHash('sha256').update(file).digest('hex')}` : file;
}

function hex(hash: readonly number[]): string {
  return Buffer.from(hash).toString('hex');
}
