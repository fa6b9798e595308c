import type { PeerCertificate } from 'node:tls';
import type { Metadata } from '@grpc/grpc-js';
import { cvmId, domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';

/** The CVM that a stream to the gateway speaks for: its domain and its identifier. */
export interface CvmIdentity {
  domain: string;
  cvmId: string;
}

/**
 * Returns the name of a CVM in the subject alternative names of its certificate: `urn:cvm:<domain>:<cvmID>`. A domain has no
 * colon, so the first colon after `urn:cvm:` ends the domain.
 */
export const identityUri = ({ domain, cvmId }: CvmIdentity): string => `urn:cvm:${domain}:${cvmId}`;

const identityName = /^URI:urn:cvm:([^:]+):(.+)$/;

/**
 * Reads which CVM is named by the subject alternative names of a certificate. Returns undefined unless they name exactly one.
 * Refuses names in quotes: Node quotes a name that could be read as several, and no certificate of a CVM has one.
 */
export function identityIn(subjectAltNames = ''): CvmIdentity | undefined {
  if (subjectAltNames.includes('"')) return undefined; // defence
  const found = subjectAltNames.split(', ').flatMap((name) => {
    const [, domain, id] = identityName.exec(name) ?? [];
    return v.is(domainId, domain) && v.is(cvmId, id) ? [{ domain, cvmId: id }] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

export const logFieldsOf = ({ domain, cvmId }: CvmIdentity): { domain: string; cvm_id: string } => ({ domain, cvm_id: cvmId });

export const nameOf = ({ domain, cvmId }: CvmIdentity): string => `${domain}/${cvmId}`;

/**
 * The identity that a stream to the gateway shows. Its CVM and fingerprint come from a verified certificate, its kind is the
 * CVM's own word.
 */
export interface StreamCredentials {
  identity: CvmIdentity;
  fingerprint: string;
  kind: 'agent' | 'log-forwarder';
}

/**
 * Reads from its certificate and metadata which CVM opened a stream to the gateway.
 * @returns the credentials, or a string that says why the stream is refused
 */
export function credentialsOf(certificate: PeerCertificate | undefined, metadata: Metadata): StreamCredentials | string {
  const identity = identityIn(certificate?.subjectaltname);
  if (!certificate || !identity) return 'The certificate does not name a CVM.';
  const [jobId] = metadata.get('job-id');
  // defence
  if (jobId !== identity.cvmId) {
    return jobId === undefined
      ? 'The agent sends no job-id. It needs AGENT_CVM_ID and version 0.10.2 or newer.'
      : 'The job-id does not match the CVM in the certificate.'; // what it says is free text
  }
  const [connectionType] = metadata.get('connection-type');
  return {
    identity,
    fingerprint: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
    kind: connectionType === 'log-forwarder' ? 'log-forwarder' : 'agent',
  };
}
