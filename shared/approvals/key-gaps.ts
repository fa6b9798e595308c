import { platformsWithGuest, withoutGuest } from 'computation-management-formats/attestation';
import { plainName } from 'computation-management-formats/quoted-name';
import { pathOfKey } from '../rows/asset-key.ts';
import type { StoredAsset } from '../rows/asset.ts';
import { assetsOf, type Inputs } from '../rows/manifest.ts';

/** The most keys of assets that a run keeps: the transaction of its start has room for these. */
export const mostKeys = 70;

/**
 * Describes as sentences for `missing_items.info` why the CVM of a run would not get the key of an asset: the key was removed, the platforms that
 * may get it are none, or some whose evidence names no guest, or the run has too many keys.
 */
export function keyGaps(inputs: Inputs): string[] {
  const assets = assetsOf(inputs);
  const keys = assets.filter(({ key }) => key !== null).length;
  const tooMany = `Fewer keys: a run can have ${mostKeys} files with keys, and this one would have ${keys}`;
  return [...assets.flatMap((asset) => gapOf(asset, inputs)), ...(keys > mostKeys ? [tooMany] : [])];
}

function gapOf({ id, file_name, key, former_key, source }: StoredAsset, { attestation_policy }: Inputs): string[] {
  const what = `Key of ${plainName(file_name)}`;
  if (!key) return former_key && source?.kbs_resource_path === pathOfKey(id) ? [`${what}, which its creator removed`] : [];
  const policies = [key.release_policy, attestation_policy].filter((policy) => policy !== null);
  const [first = [], second = first] = policies.map(({ platforms }) => platforms);
  const platforms = first.filter((platform) => second.includes(platform));
  if (first.length > 0 && platforms.length === 0)
    return [`${what}, which its policy and that of the computation release to no platform in common`];
  const without = withoutGuest({ platforms });
  if (without.length === 0) return [];
  return [
    `${what}, which is released to ${platformsWithGuest.join(', ')} alone: the policies also allow ${without.join(', ')}, whose evidence names no guest`,
  ];
}

/** Returns the assets with a key of which no policy says which CVMs may get it. */
export function keysWithoutPolicy(inputs: Inputs): StoredAsset[] {
  if (inputs.attestation_policy) return [];
  return assetsOf(inputs).filter(({ key }) => key !== null && key.release_policy === null);
}
