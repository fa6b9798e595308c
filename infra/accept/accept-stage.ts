import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  AdminInitiateAuthCommand,
  AdminSetUserPasswordCommand,
  CognitoIdentityProviderClient,
} from '@aws-sdk/client-cognito-identity-provider';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { documentClient } from '../../shared/table/document-client.ts';
import { domainsOfStage } from '../../tools/domains/domains-of-stage.ts';
import { resourcesOf } from '../../tools/domains/stage-resources.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';
import { stageNamed } from '../stages/stage-named.ts';
import { accessTokensLiveInSeconds } from '../house/lifetimes.ts';
import type { AcceptTarget } from './accept-target.ts';
import { checkAlarm } from './check-alarm.ts';
import { checkLogs } from './check-logs.ts';
import { checkTaskToken } from './check-task-token.ts';
import { facts } from './facts.ts';
import { findingsOf, type Fact, type Finding } from './finding.ts';

export interface AcceptStageOptions {
  /** Default: the stage's own. For an emulator. */
  url: string | undefined;
  say: (line: string) => void;
}

/** Until the domain's limit, which the ceiling check used up, admits changes again, and logs have arrived. */
const pauseInMilliseconds = 10_000;

/**
 * A stage on AWS with a user pool, with the credentials of the environment.
 * @throws UsageError if there is no such stage, or if its users are elsewhere
 */
export async function acceptStage(name: string, { url, say }: AcceptStageOptions): Promise<AcceptTarget> {
  const stage = stageNamed(name);
  if (stage.issuer) throw new UsageError(`The stage ${name} has an issuer of its own, which gives no tokens to this command.`);
  const { apiUrl, tableName, userPool } = await resourcesOf(stage);
  if (!userPool) throw new UsageError(`The stage ${name} has no user pool.`);
  const domains = await domainsOfStage(name, { tokensLiveInSeconds: accessTokensLiveInSeconds, say });
  const table = { name: tableName, document: documentClient(new DynamoDBClient({ region: stage.region })) };
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
    limit: stage.domainLimit,
    checkAws: async (domain, { client, since, onFinding }) => {
      const { alarm, tokens, coldStarts, conflicts } = facts;
      const report = async (checked: Fact[], check: () => Promise<Finding[]>) => {
        for (const finding of await findingsOf(checked, check)) onFinding(finding);
      };
      await report([alarm], async () => [await checkAlarm(stage, say)]);
      await delay(pauseInMilliseconds);
      await report([tokens], async () => [await checkTaskToken(client, table, domain)]);
      await report([coldStarts, conflicts], () => checkLogs(stage, since));
    },
  };
}
