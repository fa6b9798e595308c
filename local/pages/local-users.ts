import * as v from 'valibot';
import type { RemovedUsers, UserDirectory } from '../../shared/domains/manage-users.ts';
import { keptFile, type KeptFile } from '../machine/data-directory.ts';

const keptUsers = v.record(v.string(), v.array(v.string()));

/**
 * The users of the service on this machine, with their memberships. They are what `npm run domain` manages: a token of this machine
 * may name any user with any membership. Kept under `dataDirectory`.
 */
export class LocalUsers implements UserDirectory {
  private readonly file: KeptFile<v.InferOutput<typeof keptUsers>>;
  private readonly users: Map<string, Set<string>>;

  /** @throws BrokenFilesError */
  constructor(dataDirectory: string | undefined) {
    const withoutIt = 'Without it, users that `npm run domain` made are unknown. Tokens stay valid.';
    this.file = keptFile(dataDirectory, 'users.json', { schema: keptUsers, withoutIt });
    this.users = new Map(Object.entries(this.file.read() ?? {}).map(([user, memberships]) => [user, new Set(memberships)]));
  }

  async membershipsOf(user: string): Promise<string[] | undefined> {
    const memberships = this.users.get(user);
    return memberships && [...memberships];
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
