import type { ManagedUser, RolesOfUser } from './manage-users.ts';
import type { DomainContents, Removed } from './remove-domain.ts';

/** A user of a domain after a command. */
export interface DomainUser extends ManagedUser {
  /** Undefined if the user signs in to get one. */
  token?: string;
}

/** A service whose domains are managed: the one on this machine, or a deployed stage. */
export interface DomainManager {
  create: (given: Omit<RolesOfUser, 'roles'>) => Promise<DomainUser>;
  invite: (given: RolesOfUser) => Promise<DomainUser>;
  changeRoles: (given: RolesOfUser) => Promise<DomainUser>;
  look: (domain: string) => Promise<DomainContents>;
  remove: (domain: string, options: { stop: boolean; wait: boolean }) => Promise<Removed>;
  /** What a removal leaves, each in a sentence. */
  leaves: readonly string[];
}
