import { createPublicKey } from 'node:crypto';
import { hashOfBytes } from 'computation-management-formats/digests';
import { type Signer, vkeyOf } from 'computation-management-transparency-log';
import * as v from 'valibot';
import type { Kms } from '../runtime/clients.ts';
import { environment } from '../runtime/environment.ts';

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
