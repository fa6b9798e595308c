import type { KeyOwners, Schemas } from 'computation-management-client';
import { manifestLines } from 'computation-management-words';
import type { Input } from '../loading/overview.ts';
import { toHex } from 'computation-management-formats/bytes';
import { fingerprintOf } from '../show/fingerprint.ts';

/** A file of a manifest, with what the service says of it. */
export interface FileRow {
  /** The algorithm has none: a dataset may have any name. */
  index: number;
  type: 'algorithm' | 'dataset';
  /** Undefined if the service does not name it: a manifest has no name of its algorithm. */
  name: string | undefined;
  /** SHA3-256, hex. */
  hash: string;
  fingerprint: string;
  /** What else the manifest says of it, such as how the agent gets it. */
  lines: string[];
  /** The linked asset with this content. Undefined if the service lists none. */
  asset: Input | undefined;
}

export interface ReceiverRow {
  index: number;
  fingerprint: string;
  lines: string[];
  /** Undefined if that was not read. */
  users: string[] | undefined;
}

/** Returns the files of a manifest, the algorithm first. @param inputs the assets that are linked now */
export function fileRows({ algorithm, datasets }: Schemas['Manifest'], inputs: readonly Input[] = []): FileRow[] {
  const rowOf = (file: typeof algorithm | (typeof datasets)[number], index: number, dataset?: string): FileRow => {
    const type = dataset === undefined ? 'algorithm' : 'dataset';
    const hash = toHex(file.hash);
    const asset = inputs.find(
      ({ asset_type, file_name, checksum }) =>
        asset_type === type && checksum === hash && (dataset === undefined || file_name === dataset),
    );
    return {
      index,
      type,
      name: dataset ?? asset?.file_name,
      hash,
      fingerprint: fingerprintOf(file.user_key),
      lines: manifestLines(file, ['hash', 'user_key', ...(dataset === undefined ? [] : ['filename'])]),
      asset,
    };
  };
  return [rowOf(algorithm, 0), ...datasets.map((file, index) => rowOf(file, index + 1, file.filename))];
}

/** Returns who gets the results. */
export function receiverRows({ result_consumers }: Schemas['Manifest'], owners?: KeyOwners): ReceiverRow[] {
  return result_consumers.map(({ user_key, ...rest }, index) => {
    const fingerprint = fingerprintOf(user_key);
    return { index, fingerprint, lines: manifestLines(rest), users: owners?.usersWith(fingerprint) };
  });
}
