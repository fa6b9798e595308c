import { fromEnv } from '@aws-sdk/credential-provider-env';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4, type SignatureV4Init } from '@smithy/signature-v4';
import { environment } from './environment.ts';

interface SignedPost {
  /** The name of the service of AWS in the signature. */
  service: string;
  url: string;
  body: string;
  headers: Record<string, string>;
  signal: AbortSignal;
  /** Default: the credentials of the function. */
  credentials?: SignatureV4Init['credentials'];
}

/**
 * Sends a signed POST to a service of AWS. For bundles to which the client of the service would add 100 KB (docs/adr/0005-bundles.md).
 * @throws what `fetch` throws; an answer of any status is returned
 */
export async function signedPost({ service, url, credentials = fromEnv(), signal, ...sent }: SignedPost) {
  const { protocol, hostname, host, pathname: path } = new URL(url);
  const signer = new SignatureV4({ service, region: environment().AWS_REGION, credentials, sha256: Sha256 });
  const request = { method: 'POST', body: sent.body, headers: { host, ...sent.headers } };
  const { headers } = await signer.sign(new HttpRequest({ protocol, hostname, path, ...request }));
  const response = await fetch(url, { ...request, headers, signal });
  const errorType = response.headers.get('x-amzn-errortype') ?? '';
  return { isDone: response.ok, status: response.status, errorType, text: await response.text() };
}
