import type { KeyOwners, Schemas } from 'computation-management-client';
import { toHex } from 'computation-management-formats/bytes';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { quotedName } from 'computation-management-formats/quoted-name';
import { manifestLines } from './lines.ts';

type Manifest = Schemas['Manifest'];

/** The fields of an asset by which a file of a manifest is recognized as the content of the asset. */
interface KnownAsset {
  asset_type: Schemas['AssetRow']['asset_type'];
  file_name: string;
  checksum?: string | null | undefined;
  created_by?: string | undefined;
}

/** A file of a manifest, with the asset whose content it is. */
export interface ManifestFile<Asset extends KnownAsset = Schemas['AssetRow']> {
  /** The number of the file in the manifest: 0 for the algorithm, from 1 for the datasets. */
  index: number;
  type: 'algorithm' | 'dataset';
  /** The name of the file. A manifest does not name its algorithm: then it is the name of the asset, or undefined if no asset fits. */
  name: string | undefined;
  /** The SHA3-256 of the file's content, 64 hex digits. */
  hash: string;
  /** The fingerprint of the key of the party that brings the file, as `fingerprintOf` returns it. */
  fingerprint: string;
  /**
   * The facts that the manifest states about the file besides its hash, key and name, such as where the agent fetches the file. One fact a
   * line.
   */
  lines: string[];
  /** The linked asset of the type, name and content of the file. Undefined if the service lists no such asset. */
  asset: Asset | undefined;
}

/** A key of a manifest for which the results are encrypted. */
export interface Receiver {
  /** The number of the receiver, from 0. The first is the owner of the computation, or a reviewer if results are reviewed. */
  index: number;
  /** The fingerprint of the receiver's key, as `fingerprintOf` returns it. */
  fingerprint: string;
  /** The facts that the manifest states about this receiver of the result besides its key, as lines to show, one fact each. */
  lines: string[];
  /** The users to whom the receiver's key belongs, as the service says. Undefined if the owners of keys are not known. */
  users: string[] | undefined;
}

/** The parts of a manifest in words. */
export interface DescribedManifest<Asset extends KnownAsset = Schemas['AssetRow']> {
  /** The files of the manifest: the algorithm, then the datasets in the order of the manifest. */
  files: ManifestFile<Asset>[];
  receivers: Receiver[];
  /** The members of the manifest that are not about files and receivers, one a line. An approval covers them too. */
  others: string[];
}

/**
 * Describes the files of a manifest and the receivers of the results.
 * @param known the linked assets, and a function that returns the users with a key
 */
export function describeManifest<Asset extends KnownAsset = Schemas['AssetRow']>(
  { id: _, name: _1, description: _2, algorithm, datasets, result_consumers, ...rest }: Manifest,
  { assets = [], usersWith }: { assets?: readonly Asset[] | undefined; usersWith?: KeyOwners['usersWith'] | undefined } = {},
): DescribedManifest<Asset> {
  const fileOf = (file: typeof algorithm, index: number, dataset?: string): ManifestFile<Asset> => {
    const type = dataset === undefined ? 'algorithm' : 'dataset';
    const hash = toHex(file.hash);
    const asset = assets.find(
      ({ asset_type, file_name, checksum }) =>
        asset_type === type && checksum === hash && (dataset === undefined || file_name === dataset),
    );
    const labelled = ['hash', 'user_key', ...(dataset === undefined ? [] : ['filename'])];
    const fingerprint = fingerprintOf(file.user_key);
    return { index, type, name: dataset ?? asset?.file_name, hash, fingerprint, lines: manifestLines(file, labelled), asset };
  };
  const receivers = result_consumers.map(({ user_key, ...others }, index) => {
    const fingerprint = fingerprintOf(user_key);
    return { index, fingerprint, lines: manifestLines(others), users: usersWith?.(fingerprint) };
  });
  const files = [fileOf(algorithm, 0), ...datasets.map((file, index) => fileOf(file, index + 1, file.filename))];
  return { files, receivers, others: manifestLines(rest) };
}

const fingerprints = new Map<string, string>();

/**
 * Returns the fingerprint of a public key in a manifest, as `ssh-keygen -lf` prints it. For a text that is no valid key, returns `invalid:`
 * and the text in quotes. Remembers each key, because checking an RSA key takes up to a tenth of a second.
 */
export function fingerprintOf(key: string): string {
  const known = fingerprints.get(key) ?? readFingerprint(key);
  fingerprints.set(key, known);
  return known;
}

function readFingerprint(key: string): string {
  try {
    return parsePublicKey(key).fingerprint;
  } catch {
    return `invalid: ${quotedName(key)}`;
  }
}
