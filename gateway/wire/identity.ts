import type { PeerCertificate } from 'node:tls';
import type { Metadata } from '@grpc/grpc-js';
import { cvmId, domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';

/** The CVM that a stream speaks for. */
export interface CvmIdentity {
  domain: string;
  cvmId: string;
}

/**
 * Returns the name of a CVM in the subject alternative names of its certificate. A domain has no colon, so the first one divides.
 */
export function identityUri({ domain, cvmId }: CvmIdentity): string {
  return `urn:cvm:${domain}:${cvmId}`;
}

const identityName = /^URI:urn:cvm:([^:]+):(.+)$/;

/**
 * Reads which CVM the subject alternative names of a certificate name. Undefined unless they name exactly one. Node quotes a name
 * that could be read as several. No certificate of a CVM has one.
 */
export function identityIn(subjectAltNames = ''): CvmIdentity | undefined {
  if (subjectAltNames.includes('"')) return undefined;
  const found = subjectAltNames.split(', ').flatMap((name) => {
    const [, domain, id] = identityName.exec(name) ?? [];
    return v.is(domainId, domain) && v.is(cvmId, id) ? [{ domain, cvmId: id }] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

export function logFieldsOf({ domain, cvmId }: CvmIdentity): { domain: string; cvm_id: string } {
  return { domain, cvm_id: cvmId };
}

export function nameOf({ domain, cvmId }: CvmIdentity): string {
  return `${domain}/${cvmId}`;
}

/** The identity that a stream shows. The certificate is verified, the metadata are the CVM's own words. */
export interface StreamCredentials {
  identity: CvmIdentity;
  fingerprint: string;
  kind: 'agent' | 'log-forwarder';
}

/** Reads who opened a stream. @returns why the stream is refused, as a string */
export function credentialsOf(certificate: PeerCertificate | undefined, metadata: Metadata): StreamCredentials | string {
  const identity = identityIn(certificate?.subjectaltname);
  if (!certificate || !identity) return 'The certificate does not name a CVM.';
  const [jobId] = metadata.get('job-id');
  if (jobId !== identity.cvmId) {
    return jobId === undefined
      ? 'The agent sends no job-id. It needs AGENT_CVM_ID and version 0.10.2 or newer.'
      : `The job-id ${JSON.stringify(String(jobId).slice(0, 100))} does not match the CVM in the certificate.`;
  }
  const [connectionType] = metadata.get('connection-type');
  return {
    identity,
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    kind: connectionType === 'log-forwarder' ? 'log-forwarder' : 'agent',
  };
}
