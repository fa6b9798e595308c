import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, type Listening } from '../../local/machine/listen.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openKms } from '../../shared/runtime/kms.ts';

interface KmsRequest {
  KeyId: string;
  Message?: string;
  CiphertextBlob?: string;
  EncryptionContext?: Record<string, string>;
}

/** Serves the keys of this process as KMS does (AWS JSON 1.1), to other processes and to bundles, which have a client of KMS. */
export async function serveKms(): Promise<Listening> {
  return await listen(
    createServer((request, response) => void answer(request, response)),
    0,
  );
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  try {
    const operation = String(request.headers['x-amz-target']).replace('TrentService.', '');
    send(200, await resultOf(operation, JSON.parse(await text(request)) as KmsRequest));
  } catch (error) {
    const { name, message } = error as Error;
    send(400, { __type: name, message });
  }
}

async function resultOf(operation: string, request: KmsRequest): Promise<object> {
  const kms = openKms(() => new Deadline());
  const { KeyId, Message = '', CiphertextBlob = '', EncryptionContext = {} } = request;
  switch (operation) {
    case 'GetPublicKey':
      return { KeyId, PublicKey: base64(await kms.publicKey(KeyId)) };
    case 'Sign':
      return { KeyId, Signature: base64(await kms.sign(KeyId, Buffer.from(Message, 'base64'))) };
    case 'GenerateDataKey': {
      const { plain, encrypted } = await kms.newDataKey(KeyId, EncryptionContext);
      return { KeyId, Plaintext: base64(plain), CiphertextBlob: base64(encrypted) };
    }
    case 'Decrypt':
      return { KeyId, Plaintext: base64(await kms.openDataKey(KeyId, Buffer.from(CiphertextBlob, 'base64'), EncryptionContext)) };
    default:
      throw new TypeError(`${operation} is not supported.`);
  }
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
