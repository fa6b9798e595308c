import type { ManagedUser, RolesOfUser } from './manage-users.ts';
import type { DomainContents, Removed } from './remove-from-place.ts';

/** A user of a domain after a command. */
export interface UserOfPlace extends ManagedUser {
  /** Undefined if the user signs in to get one. */
  token?: string;
}

/** A service whose domains are managed: the one on this machine, or a deployed stage. */
export interface DomainPlace {
  create: (given: Omit<RolesOfUser, 'roles'>) => Promise<UserOfPlace>;
  invite: (given: RolesOfUser) => Promise<UserOfPlace>;
  changeRoles: (given: RolesOfUser) => Promise<UserOfPlace>;
  look: (domain: string) => Promise<DomainContents>;
  remove: (domain: string, options: { stop: boolean; wait: boolean }) => Promise<Removed>;
  /** What a removal leaves, each in a sentence. */
  leaves: readonly string[];
}
