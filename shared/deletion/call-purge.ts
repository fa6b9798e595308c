import { fromEnv } from '@aws-sdk/credential-provider-env';
import { Sha256 } from '@smithy/core/checksum';
import { HttpRequest } from '@smithy/core/transport';
import { SignatureV4 } from '@smithy/signature-v4';
import { sharedClient } from '../runtime/clients.ts';
import type { Deadline } from '../runtime/deadline.ts';
import { environment } from '../runtime/environment.ts';

const createSigner = () =>
  new SignatureV4({ service: 'lambda', region: environment().AWS_REGION, credentials: fromEnv(), sha256: Sha256 });

/**
 * Asks Lambda to call the function `maintenance/purge`, and does not wait for its end. While another call works, Lambda repeats this one
 * for a minute. The request is signed here, because Lambda's client would add 100 KB (docs/adr/0005-bundles.md).
 * @throws Error if Lambda refuses or the deadline passes
 */
export async function callPurge(deadline: Deadline): Promise<void> {
  const { PURGE_URL } = environment();
  const { protocol, hostname, host, pathname } = new URL(PURGE_URL);
  const request = { method: 'POST', body: '{}', headers: { host, 'x-amz-invocation-type': 'Event' } };
  const { headers } = await sharedClient(createSigner).sign(new HttpRequest({ protocol, hostname, path: pathname, ...request }));
  const response = await fetch(PURGE_URL, { ...request, headers, signal: deadline.signal() });
  const answer = await response.text();
  if (response.status !== 202) throw new Error(`Lambda answered ${response.status}: ${answer}`);
}
