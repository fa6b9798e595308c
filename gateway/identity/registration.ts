import type { GatewayService } from '../service.ts';
import type { StreamCredentials } from './stream-credentials.ts';

/** Returns why a stream is refused; undefined if its CVM is registered with the certificate that it shows. */
export async function whyRefused(
  service: GatewayService,
  { identity, fingerprint }: StreamCredentials,
): Promise<string | undefined> {
  const registered = (await service.registration(identity))?.certificate;
  if (registered === undefined) return 'The CVM is not registered with a certificate.';
  return registered === fingerprint ? undefined : 'The CVM is registered with another certificate.';
}
