import { typed, UsageError } from '../../shared/command-line/arguments.ts';
import type { DomainManager, DomainUser } from '../domains/domains-of-stage.ts';
import type { ManagedUser } from '../../shared/domains/manage-users.ts';
import type { DomainContents, Removed } from '../../shared/domains/remove-domain.ts';
import type { TokenRequest } from '../../local/pages/local-pages.ts';
import type { DomainRequest } from '../../local/pages/local-domains.ts';
import type { Enrolment } from '../../local/cvms/cvm-gateway.ts';

/** Returns the URL of the service that listens at a port of this machine. */
export function serviceHere(port: number): string {
  return `http://127.0.0.1:${port}`;
}

export function noService(service: string): Error {
  const advice = service.startsWith('http://127.0.0.1:')
    ? ` Start the service with \`${typed('start')}\`, or set PORT to its port.`
    : '';
  return new Error(`No service answers at ${service}.${advice}`);
}

/**
 * Sends a request to the service of this machine at `/local/...`, which is no part of the API.
 * @throws UsageError if the service refuses the request; Error if it fails, does not answer, or is another program
 */
export async function askThisMachine<Answer>(service: string, path: `/local/${string}`, body: unknown): Promise<Answer> {
  const response = await fetch(service + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => {
    throw noService(service);
  });
  const text = await response.text();
  const answer = parseAnswer(response.ok ? text : text || '{}', service + path);
  if (response.ok) return answer as Answer;
  const { message, detail } = answer as { message?: string; detail?: string };
  const reason = message ?? detail ?? `The service answered ${response.status}.`;
  throw response.status === 400 ? new UsageError(reason) : new Error(reason);
}

function parseAnswer(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`Expected an answer in JSON from the service of this machine at ${url}. Another program may have its port.`);
  }
}

/** Returns the manager of the domains of the service that runs on this machine. @param port of the service */
export function domainsHere(port: number): DomainManager {
  const service = serviceHere(port);
  const manage = async (request: DomainRequest & { user: string }): Promise<DomainUser> => {
    const managed = await ask<ManagedUser>(service, request);
    return { ...managed, token: await tokenHere(service, { sub: request.user, groups: managed.memberships }) };
  };
  return {
    create: ({ domain, user }) => manage({ action: 'create', domain, user }),
    invite: ({ domain, user, roles }) => manage({ action: 'invite', domain, user, roles: [...roles] }),
    changeRoles: ({ domain, user, roles }) => manage({ action: 'role', domain, user, roles: [...roles] }),
    look: (domain) => ask<DomainContents>(service, { action: 'look', domain }),
    remove: (domain, { stop }) => ask<Removed>(service, { action: 'remove', domain, stop }),
    leaves: [
      'Tokens stay valid until they expire, and whoever uses this machine can print others. They find an empty domain.',
      `What \`${typed('start')}\` printed names the paths of requests.`,
    ],
  };
}

/** Asks the service that runs on this machine for an access token of a user. @param service its URL */
export async function tokenHere(service: string, request: TokenRequest): Promise<string> {
  return (await askThisMachine<{ access_token: string }>(service, '/local/token', request)).access_token;
}

/** Returns the memberships of a user of this machine, as `npm run domain` gave them. @param port of the service */
export async function membershipsHere(port: number, user: string): Promise<string[]> {
  const { memberships } = await ask<ManagedUser>(serviceHere(port), { action: 'memberships', user });
  return memberships;
}

function ask<Answer>(service: string, request: DomainRequest): Promise<Answer> {
  return askThisMachine(service, '/local/domain', request);
}

/** A service at which CVMs are enrolled: the service on this machine, or a deployed stage. */
export interface EnrolmentTarget {
  /** The URL of the service's API. */
  service: string;
  /** Returns a token of an administrator of a domain, with which a CVM is registered. */
  token: (domain: string) => Promise<string>;
  /** Issues a certificate for the public key of a CVM. */
  enrol: (cvm: { domain: string; cvmId: string; publicKey: string }) => Promise<Enrolment>;
}

/** Returns the service that runs on this machine, at which CVMs are enrolled. @param port of the service */
export function thisMachine(port: number): EnrolmentTarget {
  const service = serviceHere(port);
  return {
    service,
    token: (domain) => tokenHere(service, { sub: 'enrolment', groups: [`${domain}:administrator`] }),
    enrol: async ({ domain, cvmId, publicKey }) =>
      await askThisMachine<Enrolment>(service, '/local/cvm', { domain, cvm_id: cvmId, public_key: publicKey }),
  };
}
