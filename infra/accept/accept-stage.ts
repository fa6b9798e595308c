import { randomBytes } from 'node:crypto';
import {
  AdminInitiateAuthCommand,
  AdminSetUserPasswordCommand,
  CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { domainsOfStage, stageNamed } from '../domains/domains-of-stage.ts';
import { resourcesOf } from '../domains/stage-resources.ts';
import { UsageError } from '../local/arguments.ts';
import type { AcceptPlace } from './accept-place.ts';

export interface AcceptStageOptions {
  /** Default: the stage's own. For an emulator. */
  url: string | undefined;
  say: (line: string) => void;
}

/**
 * A stage on AWS with a user pool, with the credentials of the environment.
 * @throws UsageError if there is no such stage, or if its users are elsewhere
 */
export async function acceptStage(name: string, { url, say }: AcceptStageOptions): Promise<AcceptPlace> {
  const stage = stageNamed(name);
  if (stage.issuer) throw new UsageError(`The stage ${name} has an issuer of its own, which gives no tokens to this command.`);
  const { apiUrl, tableName, userPool } = await resourcesOf(stage);
  if (!userPool) throw new UsageError(`The stage ${name} has no user pool.`);
  const domains = await domainsOfStage(name, { tokensLiveInSeconds: 3_600, say });
  const cognito = new CognitoIdentityProviderClient({ region: stage.region });
  return {
    url: url ?? apiUrl,
    domains,
    administrator: async (domain) => {
      const user = { UserPoolId: userPool.id, Username: domain };
      await domains.create({ domain, user: domain });
      const password = `Aa1-${randomBytes(18).toString('base64url')}`;
      await cognito.send(new AdminSetUserPasswordCommand({ ...user, Password: password, Permanent: true }));
      const { AuthenticationResult } = await cognito.send(
        new AdminInitiateAuthCommand({
          UserPoolId: userPool.id,
          ClientId: userPool.clientId,
          AuthFlow: 'ADMIN_USER_PASSWORD_AUTH',
          AuthParameters: { USERNAME: domain, PASSWORD: password },
        }),
      );
      const token = AuthenticationResult?.AccessToken;
      if (token === undefined) throw new Error('The user pool gave no token to the user of the acceptance.');
      return token;
    },
    aws: {
      stage,
      table: { name: tableName, document: DynamoDBDocumentClient.from(new DynamoDBClient({ region: stage.region })) },
    },
  };
}
