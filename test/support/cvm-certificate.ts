import { createAuthority } from '../../gateway/certificates/authority.ts';
import { cvmBody } from '../../shared/openapi/examples.ts';

/** Makes a certificate with a key of its own, in PEM: no two CVMs of a domain have the same key. */
export async function newCertificate(): Promise<string> {
  return (await createAuthority('a CVM of a test')).certificate;
}

/** Returns the body of a request that registers a CVM with a certificate that no other CVM has. */
export async function newCvmBody(): Promise<typeof cvmBody> {
  return { ...cvmBody, certificate: await newCertificate() };
}
