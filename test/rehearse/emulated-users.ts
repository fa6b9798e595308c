import { roles } from 'computation-management-formats/roles';
import { askService, type EmulatorAddress } from './emulator-client.ts';

/** The deployed user pool and its client. */
export interface UserPool {
  id: string;
  clientId: string;
}

/** The domain of the suite, and the domain of its outsider. */
const domains = { own: 'rehearsal', other: 'elsewhere' } as const;

const password = 'Only-4-the-Rehearsal';

/** Creates a user for each role, and an outsider with every role of another domain. Returns their access tokens by name. */
export async function tokensByPerson(emulator: EmulatorAddress, pool: UserPool): Promise<Record<string, string>> {
  const persons = Object.keys(roles).map((role): [string, string[]] => [role, [`${domains.own}:${role}`]]);
  persons.push(['outsider', Object.keys(roles).map((role) => `${domains.other}:${role}`)]);
  const tokens: Record<string, string> = {};
  for (const [person, groups] of persons) {
    await addUser(emulator, pool, person, groups);
    tokens[person] = await signIn(emulator, pool, person);
  }
  return tokens;
}

async function addUser(emulator: EmulatorAddress, pool: UserPool, Username: string, groups: string[]): Promise<void> {
  const ask = (operation: string, fields: Record<string, unknown>) =>
    askCognito(emulator, operation, { UserPoolId: pool.id, ...fields });
  await ask('AdminCreateUser', { Username, MessageAction: 'SUPPRESS' });
  await ask('AdminSetUserPassword', { Username, Password: password, Permanent: true });
  for (const GroupName of groups) {
    await ask('CreateGroup', { GroupName });
    await ask('AdminAddUserToGroup', { Username, GroupName });
  }
}

async function signIn(emulator: EmulatorAddress, pool: UserPool, user: string): Promise<string> {
  const answer = (await askCognito(emulator, 'AdminInitiateAuth', {
    UserPoolId: pool.id,
    ClientId: pool.clientId,
    AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
    AuthParameters: { USERNAME: user, PASSWORD: password },
  })) as { AuthenticationResult: { AccessToken: string } };
  return answer.AuthenticationResult.AccessToken;
}

function askCognito(emulator: EmulatorAddress, operation: string, input: unknown): Promise<unknown> {
  return askService(emulator, {
    service: 'cognito-idp',
    target: `AWSCognitoIdentityProviderService.${operation}`,
    input,
  });
}
