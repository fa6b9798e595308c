import { Readable } from 'node:stream';
import { HttpResponse } from '@smithy/core/transport';
import { localCredentials } from './environment.ts';

interface SentRequest {
  headers: Record<string, string>;
  body?: string | Uint8Array;
}

/** Answers a call of an API of AWS that takes and gives JSON. @param target such as `AWSStepFunctions.StartExecution` */
export type Answer = (target: string, body: string) => Promise<{ statusCode: number; body: string }>;

/** Makes a client call a part of this process, so that no other program can. */
export function callInProcess({ config }: { config: { requestHandler: unknown } }, answer: Answer): void {
  config.requestHandler = {
    handle: async ({ headers, body = '' }: SentRequest) => {
      const answered = await answer(
        headers['x-amz-target'] ?? '',
        typeof body === 'string' ? body : new TextDecoder().decode(body),
      );
      const type = { 'content-type': 'application/x-amz-json-1.0' };
      return { response: new HttpResponse({ ...answered, headers: type, body: Readable.from([Buffer.from(answered.body)]) }) };
    },
    destroy: () => undefined,
    metadata: { handlerProtocol: 'http/1.1' },
  };
}

/**
 * Makes a client send its calls without a signature, which takes a quarter of a call's processor time. The engines of this machine
 * check none, but they ask for its headers, and DynamoDB Local for the credentials in them.
 */
export function sendUnsigned({ config }: { config: { signer: unknown } }, service: string): void {
  const credential = `${localCredentials.accessKeyId}/20260101/local/${service}/aws4_request`;
  const authorization = `AWS4-HMAC-SHA256 Credential=${credential}, SignedHeaders=host, Signature=none`;
  const sign = (request: SentRequest) => {
    Object.assign(request.headers, { 'x-amz-date': '20260101T000000Z', authorization });
    return Promise.resolve(request);
  };
  config.signer = () => Promise.resolve({ sign });
}
