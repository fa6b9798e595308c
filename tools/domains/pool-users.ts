import { randomBytes } from 'node:crypto';
import {
  AdminAddUserToGroupCommand,
  AdminCreateUserCommand,
  AdminDeleteUserCommand,
  AdminGetUserCommand,
  AdminRemoveUserFromGroupCommand,
  AdminUserGlobalSignOutCommand,
  CreateGroupCommand,
  DeleteGroupCommand,
  GroupExistsException,
  LimitExceededException,
  paginateAdminListGroupsForUser,
  paginateListGroups,
  paginateListUsersInGroup,
  ResourceNotFoundException,
  UserNotFoundException,
  type CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import type { NewUser, RemovedUsers, UserDirectory } from '../../shared/domains/manage-users.ts';

/**
 * The users of a Cognito user pool. A membership is a group of the pool. A group exists only while somebody is in it, because a
 * pool has at most 10,000.
 */
export class PoolUsers implements UserDirectory {
  private readonly client: CognitoIdentityProviderClient;
  private readonly pool: { UserPoolId: string };

  constructor(client: CognitoIdentityProviderClient, poolId: string) {
    this.client = client;
    this.pool = { UserPoolId: poolId };
  }

  async membershipsOf(user: string): Promise<string[] | undefined> {
    const names: string[] = [];
    try {
      for await (const { Groups = [] } of paginateAdminListGroupsForUser(this.config, { ...this.pool, Username: user }))
        names.push(...namesOf(Groups));
    } catch (error) {
      if (error instanceof UserNotFoundException) return undefined;
      throw error;
    }
    return names;
  }

  async idOf(user: string): Promise<string> {
    const { UserAttributes = [] } = await this.client.send(new AdminGetUserCommand({ ...this.pool, Username: user }));
    return UserAttributes.find(({ Name }) => Name === 'sub')?.Value ?? user;
  }

  async usersWith(membership: string): Promise<string[]> {
    const users: string[] = [];
    try {
      for await (const { Users = [] } of paginateListUsersInGroup(this.config, { ...this.pool, GroupName: membership }))
        users.push(...Users.flatMap(({ Username }) => Username ?? []));
    } catch (error) {
      if (!(error instanceof ResourceNotFoundException)) throw error;
    }
    return users;
  }

  async membershipsIn(domain: string): Promise<string[]> {
    const names: string[] = [];
    for await (const { Groups = [] } of paginateListGroups(this.config, { ...this.pool })) names.push(...namesOf(Groups));
    return names.filter((name) => name.startsWith(`${domain}:`));
  }

  async addUser(user: string, email: string | undefined): Promise<NewUser> {
    // It fits the password policy of infra/state/users.ts.
    const password = email === undefined ? `Aa1-${randomBytes(18).toString('base64url')}` : undefined;
    const { User } = await this.client.send(
      new AdminCreateUserCommand({
        ...this.pool,
        Username: user,
        ...(email === undefined
          ? { TemporaryPassword: password, MessageAction: 'SUPPRESS' }
          : {
              UserAttributes: [
                { Name: 'email', Value: email },
                { Name: 'email_verified', Value: 'true' },
              ],
              DesiredDeliveryMediums: ['EMAIL'],
            }),
      }),
    );
    const id = User?.Attributes?.find(({ Name }) => Name === 'sub')?.Value ?? '';
    return { id, ...(password === undefined ? {} : { password }) };
  }

  async add(user: string, membership: string): Promise<void> {
    const group = { ...this.pool, GroupName: membership };
    await withinLimits(async () => {
      try {
        await this.client.send(new CreateGroupCommand(group));
      } catch (error) {
        if (!(error instanceof GroupExistsException)) throw error;
      }
      await this.client.send(new AdminAddUserToGroupCommand({ ...group, Username: user }));
    });
  }

  async remove(user: string, membership: string): Promise<void> {
    const group = { ...this.pool, GroupName: membership };
    await this.client.send(new AdminRemoveUserFromGroupCommand({ ...group, Username: user }));
    if ((await this.usersWith(membership)).length === 0) await this.client.send(new DeleteGroupCommand(group));
  }

  /**
   * Removes a domain from the user pool: deletes the users who belong to no other domain, and the groups. Deletes users before
   * the group by which they are found. Other users lose their refresh tokens, so that they get tokens without the group.
   */
  async removeDomain(domain: string): Promise<RemovedUsers> {
    const removed: RemovedUsers = { users: 0, roles: 0 };
    for (const membership of await this.membershipsIn(domain)) {
      for (const user of await this.usersWith(membership)) {
        const elsewhere = (await this.membershipsOf(user))?.some((other) => !other.startsWith(`${domain}:`));
        const who = { ...this.pool, Username: user };
        if (elsewhere) await this.client.send(new AdminUserGlobalSignOutCommand(who));
        else {
          await this.client.send(new AdminDeleteUserCommand(who)).catch(unlessMissing);
          removed.users += 1;
        }
      }
      await this.client.send(new DeleteGroupCommand({ ...this.pool, GroupName: membership })).catch(unlessMissing);
      removed.roles += 1;
    }
    return removed;
  }

  private get config() {
    return { client: this.client, pageSize: 60 };
  }
}

function namesOf(groups: { GroupName?: string | undefined }[]): string[] {
  return groups.flatMap(({ GroupName }) => GroupName ?? []);
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof UserNotFoundException || error instanceof ResourceNotFoundException)) throw error;
}

/**
 * Does a piece of work that may create a group of the user pool. @throws Error that says what to do, if Cognito refuses the group
 * because there are too many
 */
async function withinLimits(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof LimitExceededException)) throw error;
    const advice =
      'A user is in at most 100 groups, and a pool has at most 10,000: docs/domains.md#limits-of-cognito says what to do.';
    throw new Error(`Cognito refuses another group (${error.message}). ${advice}`, { cause: error });
  }
}
