import { createHash } from 'node:crypto';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { clientLimits } from '../client-limits.ts';
import { Deadline, type DeadlineSource } from '../deadline.ts';
import { environment } from '../environment.ts';
import { joinedSignature, verifiesEs256 } from './es256.ts';
import { keyObjectOf, publicJwkOf, type PublicJwk } from './public-jwk.ts';

/** Access to the stage's keys that sign evidence. The private keys never leave KMS. */
export interface SigningKeys {
  client: KMSClient;
  /** Default: a new deadline of 5 seconds for each call. */
  deadline?: DeadlineSource;
}

let client: KMSClient | undefined;

/** Opens the stage's keys. The client is created at the first call. */
export function openSigningKeys(deadline: DeadlineSource): SigningKeys {
  client ??= new KMSClient({ requestHandler: clientLimits });
  return { client, deadline };
}

/** Ends a call to KMS that is still open at the deadline. */
function untilDeadline({ deadline }: SigningKeys): { abortSignal: AbortSignal } {
  return { abortSignal: (deadline?.() ?? new Deadline()).signal() };
}

export interface Signature {
  /** r and s, base64url. */
  signature: string;
  /** The thumbprint of the key. */
  key_id: string;
}

/** Signs a text by ES256 with the stage's signing key. At most two calls of KMS. */
export async function sign(keys: SigningKeys, text: string): Promise<Signature> {
  const KeyId = environment().SIGNING_KEY_ARN;
  const publicKey = await readPublicKey(keys, KeyId);
  const { Signature: der = new Uint8Array() } = await keys.client.send(
    new SignCommand({
      KeyId,
      Message: createHash('sha256').update(text).digest(),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    }),
    untilDeadline(keys),
  );
  const signature = joinedSignature(der).toString('base64url');
  // The statement never changes once it is stored, so a signature that nobody could verify must not get there.
  if (!verifiesEs256(text, signature, keyObjectOf(publicKey))) throw new Error('KMS returned a signature that does not verify.');
  return { signature, key_id: publicKey.kid };
}

/** Reads the public keys that the stage publishes: the signing key and all keys that signed before it. */
export async function readPublishedKeys(keys: SigningKeys): Promise<PublicJwk[]> {
  const arns = environment().PUBLISHED_KEY_ARNS.split(',');
  return await Promise.all(arns.map((arn) => readPublicKey(keys, arn)));
}

/** The public key of a key in KMS never changes. */
const known = new Map<string, PublicJwk>();

async function readPublicKey(keys: SigningKeys, KeyId: string): Promise<PublicJwk> {
  const before = known.get(KeyId);
  if (before) return before;
  const { PublicKey: spki = new Uint8Array() } = await keys.client.send(new GetPublicKeyCommand({ KeyId }), untilDeadline(keys));
  const read = publicJwkOf(spki);
  known.set(KeyId, read);
  return read;
}
