import { toHex } from 'computation-management-formats/bytes';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import { formatProof, inclusionProof, openNote, parseCheckpoint, type Tree } from 'computation-management-transparency-log';
import * as v from 'valibot';
import { tagOf } from '../rows/change-run.ts';
import type { Run } from '../rows/run.ts';
import type { Kms } from '../runtime/clients.ts';
import { historyKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { readLogIdentity } from './log-key.ts';
import { checkpointPath, type LogStore, readObject, tileReader } from './log-store.ts';

/** The published checkpoint of the log, as it was read. */
export interface Published {
  /** The signed checkpoint. */
  note: string;
  tree: Tree;
  etag: string;
}

/**
 * Reads the published checkpoint. Returns undefined if none has been published.
 * @throws Error if it is not signed by the key of the stage's log, or has another origin
 */
export async function readPublished(store: LogStore, kms: Kms): Promise<Published | undefined> {
  const found = await readObject(store, checkpointPath);
  if (!found) return undefined;
  const note = Buffer.from(found.bytes).toString();
  const { origin, vkey } = await readLogIdentity(kms);
  const { origin: named, ...tree } = parseCheckpoint((await openNote(note, [vkey])).text);
  if (named !== origin) throw new Error(`The published checkpoint is of the log ${named}, not of ${origin}.`);
  return { note, tree, etag: found.etag };
}

const storedPlace = v.object({ place: v.number(), entry: storedBytes });

/** Parses where the log has the entry of a tag. Returns undefined if it has none. @param item the item at `historyKeys.place` */
export function parsePlace(item: Item | undefined): { place: number; entry: Uint8Array } | undefined {
  return item && parseStored(storedPlace, item, 'place in the log');
}

/** An entry of a run in the log, with the proof. */
export interface ProvenEntry {
  index: number;
  /** The entry as the log has it, 64 bytes. */
  entry: Uint8Array;
  /** The text of a C2SP tlog-proof, with the published checkpoint. */
  proof: string;
}

/**
 * Proves that the published log has entries of a run.
 * @returns the entries in the order of their types, or undefined if one of them is not in the published log yet
 */
export async function proveEntries<const Types extends readonly LoggedAct[]>(
  { table, store, kms }: { table: Table; store: LogStore; kms: Kms },
  domain: string,
  run: Pick<Run, 'id' | 'computation_id'>,
  types: Types,
): Promise<{ readonly [At in keyof Types]: ProvenEntry } | undefined> {
  const keys = types.map((type) => historyKeys.place(toHex(tagOf({ type, domain, run }))));
  const places = (await Promise.all(keys.map((key) => getItem(table, key)))).map(parsePlace);
  const published = await readPublished(store, kms);
  if (!published) return undefined;
  const { note: checkpoint, tree } = published;
  const readTile = tileReader(store);
  const proven = places.map(async (found) => {
    if (!found || found.place >= tree.size) return undefined;
    const hashes = await inclusionProof(found.place, tree.size, readTile);
    return { index: found.place, entry: found.entry, proof: formatProof({ index: found.place, hashes, checkpoint }) };
  });
  const all = await Promise.all(proven);
  return all.every((each) => each !== undefined) ? (all as { readonly [At in keyof Types]: ProvenEntry }) : undefined;
}
