import { createPublicKey } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { p256 } from '@noble/curves/nist.js';
import * as v from 'valibot';
import { thumbprintOf } from '../../../shared/evidence/public-jwk.ts';
import { listen } from '../listen.ts';
import type { KeyService } from '../local-environment.ts';
import { evidenceKeys, type PrivateJwk } from './evidence-keys.ts';

export interface LocalKms {
  place: KeyService;
  stop: () => Promise<void>;
}

const arnPrefix = 'arn:aws:kms:local:000000000000:key/';

/** Serves the two operations of KMS that the service uses (AWS JSON 1.1) on the loopback interface. */
export async function startKms({ dataDirectory }: { dataDirectory?: string }): Promise<LocalKms> {
  const keys = new Map(evidenceKeys(dataDirectory).map((key) => [`${arnPrefix}${thumbprintOf(key)}`, key]));
  const { endpoint, stop } = await listen(
    createServer((request, response) => void answer(request, response, keys)),
    0,
  );
  const publishedKeyArns = [...keys.keys()];
  return { place: { endpoint, signingKeyArn: publishedKeyArns.at(-1) ?? '', publishedKeyArns }, stop };
}

const requestSchema = v.object({ KeyId: v.string(), Message: v.optional(v.string()), MessageType: v.optional(v.string()) });

async function answer(request: IncomingMessage, response: ServerResponse, keys: Map<string, PrivateJwk>): Promise<void> {
  const send = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  try {
    const { KeyId, Message = '', MessageType } = v.parse(v.pipe(v.string(), v.parseJson(), requestSchema), await text(request));
    const key = keys.get(KeyId);
    const operation = String(request.headers['x-amz-target']);
    if (!key) send(400, { __type: 'NotFoundException', message: `Key '${KeyId}' does not exist` });
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
