import { Readable } from 'node:stream';
import { HttpResponse } from '@smithy/core/transport';

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
