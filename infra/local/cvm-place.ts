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
    token: async (domain) => {
      const groups = [`${domain}:administrator`];
      const { access_token } = (await ask(`${service}/local/token`, 'POST', { sub: 'enrolment', groups })) as {
        access_token: string;
      };
      return access_token;
    },
    enrol: async ({ domain, cvmId, publicKey }) =>
      (await ask(`${service}/local/cvm`, 'POST', { domain, cvm_id: cvmId, public_key: publicKey })) as Enrolment,
  };
}

/** @throws UsageError for what the service answers 400 */
export async function ask(url: string, method: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }).catch(() => {
    const { origin, hostname } = new URL(url);
    const advice = hostname === '127.0.0.1' ? ' Start it with `npm start`, or set PORT to its port.' : '';
    throw new Error(`No service answers at ${origin}.${advice}`);
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  const { message, detail } = JSON.parse(text || '{}') as { message?: string; detail?: string };
  const reason = message ?? detail ?? `The service answered ${response.status}.`;
  throw response.status === 400 ? new UsageError(reason) : new Error(reason);
}
