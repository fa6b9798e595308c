import { type Client, type KeyOwners, readKeyOwners, type Schemas } from 'computation-management-client';
import { cautionsOf } from 'computation-management-words';
import { type Configuration, configurationOf } from 'computation-management-formats/approval-text';
import { loadOverview, type Overview } from '../loading/overview.ts';
import { receiverRows, fileRows } from '../manifest/manifest-rows.ts';
import { loadManifest } from '../manifest/manifest-view.tsx';
import { canonicalDigest } from 'computation-management-formats/digests';

/** All that a user looks at before approving. */
export interface Consent {
  overview: Overview;
  manifest: Schemas['Manifest'];
  configuration: Configuration;
  digests: { manifest_digest: string; configuration_digest: string };
  owners: KeyOwners;
  cautions: string[];
}

/**
 * Reads what an approval covers, and computes its digests from it.
 * @throws Error if the service names other digests
 */
export async function loadConsent(client: Client, id: string, signal: AbortSignal): Promise<Consent> {
  const [overview, { manifest, ...served }] = await Promise.all([
    loadOverview(client, id, signal),
    loadManifest(client, { id, signal }),
  ]);
  const { computation, inputs } = overview;
  if (computation.id !== id || manifest.id !== id)
    throw new Error('The service returned another computation than the one asked for.');
  const configuration = configurationOf(computation);
  const digests = { manifest_digest: canonicalDigest(manifest), configuration_digest: canonicalDigest(configuration) };
  if (served.digest !== digests.manifest_digest || served.configurationDigest !== digests.configuration_digest) {
    throw new Error(
      'The service names other digests than those of the manifest and the configuration that it returned. If they were just changed, try again.',
    );
  }
  const owners = await readKeyOwners(client, computation, signal);
  const ownerless = [
    ...fileRows(manifest, inputs).filter(({ asset }) => asset?.created_by === undefined),
    ...receiverRows(manifest, owners).filter(({ users }) => users?.length === 0),
  ].map(({ fingerprint }) => fingerprint);
  const cautions = cautionsOf({ manifest, configuration, ownerless: [...new Set(ownerless)] });
  return { overview, manifest, configuration, digests, owners, cautions };
}
