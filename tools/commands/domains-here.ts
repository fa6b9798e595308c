import { issueLocalToken } from 'computation-management-client';
import type { DomainManager, DomainUser } from '../domains/domains-of-stage.ts';
import type { ManagedUser } from '../../shared/domains/manage-users.ts';
import type { DomainContents, Removed } from '../../shared/domains/remove-domain.ts';
import { typed } from '../../shared/command-line/arguments.ts';
import { askThisMachine, serviceHere } from './ask-this-machine.ts';
import type { DomainRequest } from '../../local/pages/local-domains.ts';

/** The domains of the service that runs on this machine. */
export function domainsHere(port: number): DomainManager {
  const service = serviceHere(port);
  const manage = async (request: DomainRequest & { user: string }): Promise<DomainUser> => {
    const managed = await ask<ManagedUser>(service, request);
    const token = await issueLocalToken({ baseUrl: service, sub: request.user, groups: managed.memberships });
    return { ...managed, token };
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

/** Returns the memberships that `npm run domain` gave a user of this machine. */
export async function membershipsHere(port: number, user: string): Promise<string[]> {
  const { memberships } = await ask<ManagedUser>(serviceHere(port), { action: 'memberships', user });
  return memberships;
}

function ask<Answer>(service: string, request: DomainRequest): Promise<Answer> {
  return askThisMachine(service, '/local/domain', request);
}
