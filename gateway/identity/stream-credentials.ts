import type { Metadata } from '@grpc/grpc-js';
import type { PeerCertificate } from 'node:tls';
import { type CvmIdentity, identityIn } from './cvm-identity.ts';

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
