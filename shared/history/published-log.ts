import * as v from 'valibot';
import { toHex } from 'computation-management-formats/bytes';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import {
  formatProof,
  inclusionProof,
  openNote,
  parseCheckpoint,
  type Tree,
  type Signer,
  vkeyOf,
} from 'computation-management-transparency-log';
import { tagOf } from '../rows/change-run.ts';
import type { Run } from '../rows/run.ts';
import type { Kms } from '../runtime/clients.ts';
import { historyKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { checkpointPath, type LogStore, readObject, tileReader } from './log-store.ts';
import { createPublicKey } from 'node:crypto';
import { hashOfBytes } from 'computation-management-formats/digests';
import { environment } from '../runtime/environment.ts';

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

/** The name of the stage's log, and the key that verifies its checkpoints. */
export interface LogIdentity {
  origin: string;
  vkey: string;
}

/** The logs whose public key was read from KMS, by the ARN of the key. The public key of a key in KMS never changes. */
const known = new Map<string, LogIdentity>();

/** The number of hex digits of the hash of its public key in the name of a log. */
const digitsOfOrigin = 16;

/**
 * Reads the name and the verifier key of the stage's log. The name contains a part of the hash of the key, so it is fixed when the
 * stage first has its key, and no two logs share it.
 */
export async function readLogIdentity(kms: Kms): Promise<LogIdentity> {
  const { LOG_KEY_ARN, STAGE } = environment();
  const before = known.get(LOG_KEY_ARN);
  if (before) return before;
  const publicKey = publicKeyIn(await kms.publicKey(LOG_KEY_ARN));
  const origin = `computation-management/${STAGE}/${hashOfBytes(publicKey).slice(0, digitsOfOrigin)}`;
  const identity = { origin, vkey: vkeyOf(origin, publicKey) };
  known.set(LOG_KEY_ARN, identity);
  return identity;
}

/** Reads the name and the verifier key of the stage's log, and returns them with a function that signs its checkpoints in KMS. */
export async function logSigner(kms: Kms): Promise<LogIdentity & Signer> {
  return { ...(await readLogIdentity(kms)), sign: (message) => kms.signEd25519(environment().LOG_KEY_ARN, message) };
}

const ed25519Jwk = v.object({ crv: v.literal('Ed25519'), x: v.string() });

/** Returns the 32 bytes of an Ed25519 public key. @throws Error if the key is another one */
function publicKeyIn(spki: Uint8Array): Uint8Array {
  const jwk = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' }).export({ format: 'jwk' });
  return Buffer.from(v.parse(ed25519Jwk, jwk).x, 'base64url');
}
