import * as v from 'valibot';
import { cvmId, domainId } from '../../shared/identifier-schemas.ts';

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
