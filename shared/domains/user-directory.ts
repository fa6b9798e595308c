/** What a new user needs to sign in. */
export interface NewUser {
  /** The identifier of the user: `sub` in the tokens. */
  id: string;
  /** Shown once. Undefined if the user gets it by e-mail, or needs none. */
  password?: string;
}

/** What was removed with a domain. */
export interface RemovedUsers {
  /** Users who had no role in another domain. */
  users: number;
  /** The roles of the domain that somebody had, each counted once. */
  roles: number;
}

/** Where the users of a service are, with their memberships `<domainID>:<role>`. */
export interface UserDirectory {
  /** Returns the memberships of a user in all domains. Undefined if there is no such user. */
  membershipsOf: (user: string) => Promise<string[] | undefined>;
  /** Returns the users who have this membership. */
  usersWith: (membership: string) => Promise<string[]>;
  /** Returns the memberships of a domain that somebody has or had. */
  membershipsIn: (domain: string) => Promise<string[]>;
  addUser: (user: string, email: string | undefined) => Promise<NewUser>;
  add: (user: string, membership: string) => Promise<void>;
  remove: (user: string, membership: string) => Promise<void>;
  /** Removes all memberships of a domain, and the users who have no others. May be interrupted and repeated. */
  removeDomain: (domain: string) => Promise<RemovedUsers>;
}
