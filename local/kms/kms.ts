import { createCipheriv, createDecipheriv, createPublicKey, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { p256 } from '@noble/curves/nist.js';
import * as v from 'valibot';
import { thumbprintOf } from '../../shared/evidence/es256.ts';
import { listen } from '../listen.ts';
import type { KeyService } from '../local-environment.ts';
import { evidenceKeys, type PrivateJwk } from './evidence-keys.ts';
import { sealingKey } from './sealing-key.ts';

export interface LocalKms {
  place: KeyService;
  stop: () => Promise<void>;
}

const arnPrefix = 'arn:aws:kms:local:000000000000:key/';

/** Serves the operations of KMS that the service uses (AWS JSON 1.1) on the loopback interface. */
export async function startKms({ dataDirectory }: { dataDirectory?: string }): Promise<LocalKms> {
  const keys = new Map(evidenceKeys(dataDirectory).map((key) => [`${arnPrefix}${thumbprintOf(key)}`, key]));
  const sealing = sealingKey(dataDirectory);
  const { endpoint, stop } = await listen(
    createServer((request, response) => void answer(request, response, { keys, sealing })),
    0,
  );
  const publishedKeyArns = [...keys.keys()];
  const signingKeyArn = publishedKeyArns.at(-1) ?? '';
  return { place: { endpoint, signingKeyArn, sealingKeyArn, publishedKeyArns }, stop };
}

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const sealingKeyArn = `${arnPrefix}sealing`;

const requestSchema = v.object({
  KeyId: v.string(),
  Message: v.optional(v.string()),
  MessageType: v.optional(v.string()),
  CiphertextBlob: v.optional(v.string()),
  EncryptionContext: v.optional(v.record(v.string(), v.string())),
});
type KmsRequest = v.InferOutput<typeof requestSchema>;

interface Keys {
  keys: Map<string, PrivateJwk>;
  sealing: Buffer;
}

async function answer(request: IncomingMessage, response: ServerResponse, { keys, sealing }: Keys): Promise<void> {
  const send = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  try {
    const parsed = v.parse(v.pipe(v.string(), v.parseJson(), requestSchema), await text(request));
    const { KeyId, Message = '', MessageType } = parsed;
    const key = keys.get(KeyId);
    const operation = String(request.headers['x-amz-target']);
    if (KeyId === sealingKeyArn && operation === 'TrentService.GenerateDataKey') send(200, dataKey(sealing, parsed));
    else if (KeyId === sealingKeyArn && operation === 'TrentService.Decrypt') {
      const Plaintext = opened(sealing, parsed);
      if (Plaintext) send(200, { KeyId, Plaintext });
      else send(400, { __type: 'InvalidCiphertextException', message: 'The ciphertext or its context is not that of this key.' });
    } else if (!key) send(400, { __type: 'NotFoundException', message: `Key '${KeyId}' does not exist` });
    else if (operation === 'TrentService.GetPublicKey') send(200, { KeyId, PublicKey: spkiOf(key).toString('base64') });
    else if (operation === 'TrentService.Sign' && MessageType === 'DIGEST') {
      send(200, { KeyId, Signature: signed(key, Buffer.from(Message, 'base64')).toString('base64') });
    } else send(400, { __type: 'ValidationException', message: `${operation} of a ${MessageType} is not supported.` });
  } catch (error) {
    send(400, { __type: 'SerializationException', message: String(error) });
  }
}

function spkiOf({ kty, crv, x, y }: PrivateJwk): Buffer {
  return createPublicKey({ key: { kty, crv, x, y }, format: 'jwk' }).export({ format: 'der', type: 'spki' });
}

/** Signs a SHA-256 digest and returns DER, as KMS does. Node cannot sign a digest, only the text itself. */
function signed({ d }: PrivateJwk, digest: Buffer): Buffer {
  return Buffer.from(p256.sign(digest, Buffer.from(d, 'base64url'), { prehash: false, lowS: false, format: 'der' }));
}

/** A new data key of 256 bits, in plain text and encrypted by AES-256-GCM, with the encryption context as associated data. */
function dataKey(sealing: Buffer, { KeyId, EncryptionContext = {} }: KmsRequest) {
  const [plain, nonce] = [randomBytes(32), randomBytes(nonceBytes)];
  const encryption = createCipheriv(cipher, sealing, nonce).setAAD(contextBytes(EncryptionContext));
  const encrypted = Buffer.concat([encryption.update(plain), encryption.final()]);
  const blob = Buffer.concat([nonce, encryption.getAuthTag(), encrypted]);
  return { KeyId, Plaintext: plain.toString('base64'), CiphertextBlob: blob.toString('base64') };
}

/** Returns undefined if the key did not encrypt it, or with another context. */
function opened(sealing: Buffer, { CiphertextBlob = '', EncryptionContext = {} }: KmsRequest): string | undefined {
  const blob = Buffer.from(CiphertextBlob, 'base64');
  try {
    const decryption = createDecipheriv(cipher, sealing, blob.subarray(0, nonceBytes))
      .setAAD(contextBytes(EncryptionContext))
      .setAuthTag(blob.subarray(nonceBytes, nonceBytes + tagBytes));
    return Buffer.concat([decryption.update(blob.subarray(nonceBytes + tagBytes)), decryption.final()]).toString('base64');
  } catch {
    return undefined;
  }
}

function contextBytes(context: Record<string, string>): Buffer {
  return Buffer.from(JSON.stringify(Object.entries(context).sort()));
}
