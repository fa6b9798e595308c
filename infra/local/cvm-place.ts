import { issueLocalToken } from '../../client/tokens/local-token.ts';
import { UsageError } from './arguments.ts';
import type { Enrolment } from './cvm-gateway.ts';

/** A service whose CVMs are enrolled: the one on this machine, or a deployed stage. */
export interface CvmPlace {
  /** The URL of the API. */
  service: string;
  /** Returns a token of an administrator of the domain. */
  token: (domain: string) => Promise<string>;
  /** Issues a certificate for the public key of a CVM. */
  enrol: (cvm: { domain: string; cvmId: string; publicKey: string }) => Promise<Enrolment>;
}

/** The service that runs on this machine. */
export function thisMachine(port: number): CvmPlace {
  const service = `http://127.0.0.1:${port}`;
  return {
    service,
    token: async (domain) => await issueLocalToken({ baseUrl: service, sub: 'enrolment', groups: [`${domain}:administrator`] }),
    enrol: async ({ domain, cvmId, publicKey }) =>
      await askForCertificate(service, { domain, cvm_id: cvmId, public_key: publicKey }),
  };
}

export function noService(service: string): Error {
  const advice = service.startsWith('http://127.0.0.1:') ? ' Start it with `npm start`, or set PORT to its port.' : '';
  return new Error(`No service answers at ${service}.${advice}`);
}

/** Asks the service of this machine for a certificate, which is no part of the API. */
async function askForCertificate(service: string, body: unknown): Promise<Enrolment> {
  const response = await fetch(`${service}/local/cvm`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw noService(service);
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as Enrolment;
  const { message, detail } = JSON.parse(text || '{}') as { message?: string; detail?: string };
  const reason = message ?? detail ?? `The service answered ${response.status}.`;
  throw response.status === 400 ? new UsageError(reason) : new Error(reason);
}
