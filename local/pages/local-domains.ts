import { domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { openContentStore } from '../../shared/rows/content-store.ts';
import { Deadline, systemClock } from '../../shared/runtime/deadline.ts';
import { endMail } from '../../shared/notifications/index.ts';
import { openExecutions } from '../../shared/lifecycle/index.ts';
import { openTable } from '../../shared/table/table.ts';
import {
  changeRoles,
  createDomain,
  inviteUser,
  type ManagedUser,
  type RemovedUsers,
  type UserDirectory,
} from '../../shared/domains/manage-users.ts';
import {
  contentsOf,
  removeDomain,
  type DomainStorage,
  type DomainContents,
  type Removed,
} from '../../shared/domains/remove-domain.ts';
import { keptFile, type KeptFile } from '../machine/data-directory.ts';
import { isNameFor, localUser, reservedName } from '../sign-in/issuer.ts';
import type { ClosedDomains } from '../http-api/http-api.ts';
import { removeLogsOfDomain } from '../cvms/run-logs.ts';
import { UsageError } from '../../shared/command-line/arguments.ts';

const roles = v.array(v.pipe(v.string(), v.nonEmpty('Expected a role.')));

/** The schema of a request of `npm run domain` to the service of this machine. */
export const domainRequest = v.variant('action', [
  v.strictObject({ action: v.literal('create'), domain: domainId, user: localUser }),
  v.strictObject({ action: v.picklist(['invite', 'role']), domain: domainId, user: localUser, roles }),
  v.strictObject({ action: v.literal('memberships'), user: localUser }),
  v.strictObject({ action: v.literal('look'), domain: domainId }),
  v.strictObject({ action: v.literal('remove'), domain: domainId, stop: v.boolean() }),
]);
export type DomainRequest = v.InferOutput<typeof domainRequest>;

export type DomainAnswer = ManagedUser | DomainContents | Removed;

export interface LocalDomainsOptions {
  users: LocalUsers;
  closedDomains: ClosedDomains;
  /** The directory of the logs of runs on real CVMs. Undefined if the service has no gateway for real CVMs. */
  runLogs: string | undefined;
}

const longestOperationInMilliseconds = 60_000;
const deadline = () => new Deadline(longestOperationInMilliseconds);

/**
 * Returns a function that makes, changes and removes domains of the service on this machine, as a request says. The environment
 * variables of the service's functions must be set.
 */
export function localDomains({ users, closedDomains, runLogs }: LocalDomainsOptions) {
  const removing = new Set<string>();
  const work = async (request: DomainRequest): Promise<DomainAnswer> => {
    switch (request.action) {
      case 'memberships':
        return { memberships: (await users.membershipsOf(request.user)) ?? [] };
      case 'create':
        demandName(request, ['administrator']);
        return await createDomain(users, request);
      case 'invite':
        demandName(request, request.roles);
        return await inviteUser(users, request);
      case 'role':
        demandName(request, request.roles);
        return await changeRoles(users, request, (domain, userId) => endMail(openTable(deadline), domain, userId));
      case 'look':
        return await contentsOf(openStorage(), request.domain);
      case 'remove':
        return await removeDomain(openStorage(), { ...request, wait: false, say: () => undefined });
    }
  };
  const openStorage = (): DomainStorage => ({
    clock: systemClock,
    table: openTable(deadline),
    content: openContentStore(deadline),
    executions: openExecutions(deadline),
    users,
    close: async (domain) => {
      await closedDomains.close(domain);
      return { changesEndAt: 0, isOverAt: 0 };
    },
    readsEndInMilliseconds: 100,
    ...(runLogs === undefined ? {} : { removeRunLogs: (domain) => removeLogsOfDomain(runLogs, domain) }),
  });
  return async (request: DomainRequest): Promise<DomainAnswer> => {
    if ('domain' in request && removing.has(request.domain)) throw new Error(`The domain ${request.domain} is being removed.`);
    if (request.action !== 'remove') return await work(request);
    const { domain } = request;
    removing.add(domain);
    try {
      return await work(request);
    } finally {
      removing.delete(domain);
      closedDomains.open(domain); // a removal that failed is repeated
    }
  };
}

/** Checks the name of a user who gets roles. @throws UsageError if the service would refuse the tokens of the user */
function demandName({ domain, user }: { domain: string; user: string }, roles: readonly string[]): void {
  const memberships = roles.map((role) => `${domain}:${role}`);
  if (!isNameFor(user, memberships)) throw new UsageError(`${user}: ${reservedName}`);
}

const keptUsers = v.record(v.string(), v.array(v.string()));

/**
 * The users of the service on this machine, with their memberships. `npm run domain` manages these users, but a token of this
 * machine may name any user with any membership. Kept under `dataDirectory`.
 */
export class LocalUsers implements UserDirectory {
  private readonly file: KeptFile<v.InferOutput<typeof keptUsers>>;
  private readonly users: Map<string, Set<string>>;

  /** Reads the users from the data directory. @throws BrokenFilesError if the file with the users is not valid */
  constructor(dataDirectory: string | undefined) {
    const withoutIt = 'Without it, users that `npm run domain` made are unknown. Tokens stay valid.';
    this.file = keptFile(dataDirectory, 'users.json', { schema: keptUsers, withoutIt });
    this.users = new Map(Object.entries(this.file.read() ?? {}).map(([user, memberships]) => [user, new Set(memberships)]));
  }

  async membershipsOf(user: string): Promise<string[] | undefined> {
    const memberships = this.users.get(user);
    return memberships && [...memberships];
  }

  async idOf(user: string): Promise<string> {
    return user;
  }

  async usersWith(membership: string): Promise<string[]> {
    return [...this.users].filter(([, memberships]) => memberships.has(membership)).map(([user]) => user);
  }

  async membershipsIn(domain: string): Promise<string[]> {
    const all = [...this.users.values()].flatMap((memberships) => [...memberships]);
    return [...new Set(all.filter((membership) => membership.startsWith(`${domain}:`)))];
  }

  async addUser(user: string): Promise<{ id: string }> {
    this.users.set(user, new Set());
    this.write();
    return { id: user };
  }

  async add(user: string, membership: string): Promise<void> {
    this.users.get(user)?.add(membership);
    this.write();
  }

  async remove(user: string, membership: string): Promise<void> {
    this.users.get(user)?.delete(membership);
    this.write();
  }

  async removeDomain(domain: string): Promise<RemovedUsers> {
    const roles = await this.membershipsIn(domain);
    let users = 0;
    for (const [user, memberships] of this.users) {
      const wasMember = roles.some((membership) => memberships.delete(membership));
      for (const membership of roles) memberships.delete(membership);
      if (!wasMember || memberships.size > 0) continue;
      this.users.delete(user);
      users += 1;
    }
    this.write();
    return { users, roles: roles.length };
  }

  private write(): void {
    this.file.write(Object.fromEntries([...this.users].map(([user, memberships]) => [user, [...memberships]])));
  }
}
