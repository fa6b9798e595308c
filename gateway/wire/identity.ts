import type { PeerCertificate } from 'node:tls';
import type { Metadata } from '@grpc/grpc-js';
import { cvmId, domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';

/** Which CVM a stream speaks for. */
export interface CvmIdentity {
  domain: string;
  cvmId: string;
}

/** The name of a CVM in the subject alternative names of its certificate. A domain has no colon, so the first one divides. */
export function identityUri({ domain, cvmId }: CvmIdentity): string {
  return `urn:cvm:${domain}:${cvmId}`;
}

const identityName = /^URI:urn:cvm:([^:]+):(.+)$/;

/**
 * Reads the CVM from a certificate's subject alternative names, in the form that Node gives them. Returns undefined unless they
 * name exactly one CVM.
 */
export function identityIn(subjectAltNames: string | undefined): CvmIdentity | undefined {
  const found = (subjectAltNames ?? '').split(', ').flatMap((name) => {
    const [, domain, id] = identityName.exec(name) ?? [];
    return v.is(domainId, domain) && v.is(cvmId, id) ? [{ domain, cvmId: id }] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

/** Returns the log fields of a CVM, as functions name them. */
export function logFieldsOf({ domain, cvmId }: CvmIdentity): { domain: string; cvm_id: string } {
  return { domain, cvm_id: cvmId };
}

export function nameOf({ domain, cvmId }: CvmIdentity): string {
  return `${domain}/${cvmId}`;
}

/** What a new stream shows of itself: the certificate is verified by then, the metadata are the CVM's own words. */
export interface StreamCredentials {
  identity: CvmIdentity;
  /** The SHA-256 of the certificate, hex in lower case. */
  fingerprint: string;
  kind: 'agent' | 'log-forwarder';
}

/** Reads who opens a stream. @returns the reason of a refusal as a string */
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
