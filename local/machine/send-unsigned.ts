import { localCredentials } from './environment.ts';

interface SentRequest {
  headers: Record<string, string>;
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
