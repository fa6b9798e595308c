import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { p256 } from '@noble/curves/nist.js';
import { hashOfBytes } from 'computation-management-formats/digests';
import { thumbprintOf } from 'computation-management-formats/es256';
import * as v from 'valibot';
import { keptFile } from './data-directory.ts';
import { decrypt, encrypt } from '../../shared/rows/sealed-key.ts';
import type { Kms } from '../../shared/runtime/clients.ts';

/** The keys of this machine: they sign evidence and the log, and seal private keys, in place of keys in KMS. */
export interface LocalKms {
  kms: Kms;
  signingKeyArn: string;
  sealingKeyArn: string;
  /** The ARN of the key that signs the checkpoints of the log. */
  logKeyArn: string;
  /** The ARNs of the key that signs evidence and of the keys that signed before it, oldest first. */
  publishedKeyArns: string[];
}

const privateJwk = v.object({ kty: v.literal('EC'), crv: v.literal('P-256'), x: v.string(), y: v.string(), d: v.string() });
type PrivateJwk = v.InferOutput<typeof privateJwk>;

/**
 * The schema of the file with the keys that sign evidence. The last key signs. The keys before it stay, so that their evidence
 * can be verified.
 */
const signingKeys = v.object({ keys: v.pipe(v.array(privateJwk), v.nonEmpty()) });

/** The schema of the file with the key that signs the checkpoints of the log: PKCS #8 of Ed25519, in PEM. */
const logKey = v.object({ key: v.pipe(v.string(), v.check(isEd25519, 'Expected an Ed25519 private key in PEM.')) });

const keyBytes = 32;
const sealingKey = v.object({
  key: v.pipe(
    v.string(),
    v.base64(),
    v.check((key) => Buffer.from(key, 'base64').length === keyBytes, `Expected ${keyBytes} bytes.`),
  ),
});

/**
 * Returns the keys that sign evidence and seal private keys on this machine. The keys are kept under `dataDirectory`. Without a
 * data directory, evidence verifies after a restart only with a copy of the public key, and sealed private keys are lost.
 * @throws BrokenFilesError if a file with keys is not valid
 */
export function localKms(dataDirectory: string | undefined): LocalKms {
  const signingFile = keptFile(dataDirectory, 'evidence-keys.json', {
    schema: signingKeys,
    withoutIt: 'Without it, evidence issued earlier verifies only with a copy of its public key.',
  });
  const sealingFile = keptFile(dataDirectory, 'sealing-key.json', {
    schema: sealingKey,
    withoutIt: 'Without it, the private keys in the configurations of computations cannot be read.',
  });
  const logFile = keptFile(dataDirectory, 'log-key.json', {
    schema: logKey,
    withoutIt: 'Without it, the log cannot go on: its readers do not accept another key.',
  });
  const { keys } = signingFile.read() ?? signingFile.write({ keys: [newSigningKey()] });
  const { key } = sealingFile.read() ?? sealingFile.write({ key: randomBytes(keyBytes).toString('base64') });
  const { key: pem } = logFile.read() ?? logFile.write({ key: newLogKey() });
  const signing = new Map(keys.map((each) => [arnOf(thumbprintOf(each)), each]));
  const publishedKeyArns = [...signing.keys()];
  const logKeyArn = arnOf(hashOfBytes(publicKeyOf(pem)));
  const kms = kmsOn(signing, Buffer.from(key, 'base64'), { arn: logKeyArn, pem });
  return { kms, signingKeyArn: publishedKeyArns.at(-1) ?? '', sealingKeyArn: arnOf('sealing'), logKeyArn, publishedKeyArns };
}

function newLogKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

function publicKeyOf(pem: string): Buffer {
  return createPublicKey(pem).export({ format: 'der', type: 'spki' });
}

function isEd25519(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}

function arnOf(id: string): string {
  return `arn:aws:kms:local:000000000000:key/${id}`;
}

function newSigningKey(): PrivateJwk {
  return v.parse(privateJwk, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));
}

function kmsOn(signing: ReadonlyMap<string, PrivateJwk>, sealing: Buffer, logKey: { arn: string; pem: string }): Kms {
  const find = (keyArn: string): PrivateJwk => {
    const key = signing.get(keyArn);
    if (!key) throw named('NotFoundException', `Key '${keyArn}' does not exist`);
    return key;
  };
  return {
    publicKey: async (keyArn) => {
      if (keyArn === logKey.arn) return publicKeyOf(logKey.pem);
      const { kty, crv, x, y } = find(keyArn);
      return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' }).export({ format: 'der', type: 'spki' });
    },
    // Node cannot sign a digest, only the text itself.
    sign: async (keyArn, digest) =>
      p256.sign(digest, Buffer.from(find(keyArn).d, 'base64url'), { prehash: false, lowS: false, format: 'der' }),
    signEd25519: async (keyArn, message) => {
      if (keyArn !== logKey.arn) throw named('NotFoundException', `Key '${keyArn}' does not exist`);
      return sign(null, message, logKey.pem);
    },
    newDataKey: async (_, context) => {
      const plain = randomBytes(keyBytes);
      return { plain, encrypted: encrypt(sealing, plain, bytesOf(context)) };
    },
    openDataKey: async (_, encrypted, context) => {
      try {
        return decrypt(sealing, encrypted, bytesOf(context));
      } catch {
        throw named('InvalidCiphertextException', 'The ciphertext or its context is not that of this key.');
      }
    },
  };
}

function bytesOf(context: Record<string, string>): Buffer {
  return Buffer.from(JSON.stringify(Object.entries(context).sort()));
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
