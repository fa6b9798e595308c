import { issueLocalToken } from 'computation-management-client';
import { askThisMachine, serviceHere } from './ask-this-machine.ts';
import type { Enrolment } from '../../local/cvms/cvm-gateway.ts';

/** A service whose CVMs are enrolled: the one on this machine, or a deployed stage. */
export interface EnrolmentTarget {
  /** The URL of the API. */
  service: string;
  /** Returns a token of an administrator of the domain. */
  token: (domain: string) => Promise<string>;
  /** Issues a certificate for the public key of a CVM. */
  enrol: (cvm: { domain: string; cvmId: string; publicKey: string }) => Promise<Enrolment>;
}

/** The service that runs on this machine. */
export function thisMachine(port: number): EnrolmentTarget {
  const service = serviceHere(port);
  return {
    service,
    token: async (domain) => await issueLocalToken({ baseUrl: service, sub: 'enrolment', groups: [`${domain}:administrator`] }),
    enrol: async ({ domain, cvmId, publicKey }) =>
      await askThisMachine<Enrolment>(service, '/local/cvm', { domain, cvm_id: cvmId, public_key: publicKey }),
  };
}
