import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientCredentials, keptToken, type Token } from 'computation-management-client';
import * as v from 'valibot';
import type { Invocation } from '../../../shared/runtime/deadline.ts';
import { environment } from '../../../shared/runtime/environment.ts';
import { log, withLogFields } from '../../../shared/runtime/log.ts';
import { canaryDomain, canarySettings, type CanarySettings } from './canary-settings.ts';
import { runCanary } from './run-canary.ts';

/**
 * The time limit in milliseconds for all steps. It is longer than a healthy run takes, and short enough to delete everything
 * before the function times out.
 */
const stepsInMilliseconds = 150_000;

/**
 * Runs the canary once, and returns the milliseconds of each of its steps. Throws on any trouble, because an alarm watches the
 * errors of the function.
 */
export function handler(_event: unknown, invocation?: Invocation): Promise<Record<string, number>> {
  return withLogFields({ task: 'canary', request_id: invocation?.awsRequestId, domain: canaryDomain }, work);
}

async function work(): Promise<Record<string, number>> {
  try {
    const settings = v.parse(canarySettings, JSON.parse(environment().CANARY));
    const milliseconds = await runCanary({
      baseUrl: settings.apiUrl,
      domain: canaryDomain,
      token: await tokenOf(settings),
      signal: AbortSignal.timeout(stepsInMilliseconds),
    });
    log('INFO', 'The canary succeeded.', { milliseconds });
    return milliseconds;
  } catch (error) {
    log('ERROR', 'The canary failed.', {}, error);
    throw error;
  }
}

async function tokenOf(settings: CanarySettings): Promise<Exclude<Token, string>> {
  const secret = await secretOf(settings.secretId);
  if (settings.signIn === 'password') return passwordSignIn({ ...settings, password: secret });
  const token = clientCredentials({ ...settings, clientSecret: secret });
  return typeof token === 'string' ? async () => token : token;
}

async function secretOf(SecretId: string): Promise<string> {
  const { SecretString = '' } = await new SecretsManagerClient().send(new GetSecretValueCommand({ SecretId }));
  return SecretString;
}

const answerSchema = v.object({
  AuthenticationResult: v.optional(v.object({ AccessToken: v.string(), ExpiresIn: v.number() })),
  ChallengeName: v.optional(v.string()),
});
const refusalSchema = v.object({ message: v.string() });

const timeoutInMilliseconds = 20_000;

/**
 * Returns a source of access tokens for a user of a Cognito user pool, who signs in with a password. The request is public and
 * needs no signature.
 * @param given the address of the user pool, such as `https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_abc`, and its
 * client, which has no secret and allows `USER_PASSWORD_AUTH`
 * @throws Error if the pool refuses the user or asks for more than a password
 */
export function passwordSignIn(given: Record<'issuer' | 'clientId' | 'user' | 'password', string>): Exclude<Token, string> {
  const { issuer, clientId: ClientId, user, password } = given;
  const target = 'AWSCognitoIdentityProviderService.InitiateAuth';
  const asked = { AuthFlow: 'USER_PASSWORD_AUTH', ClientId, AuthParameters: { USERNAME: user, PASSWORD: password } };
  return keptToken(async () => {
    const response = await fetch(new URL('/', issuer), {
      method: 'POST',
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target },
      body: JSON.stringify(asked),
      signal: AbortSignal.timeout(timeoutInMilliseconds),
    });
    const answer: unknown = await response.json();
    if (!response.ok) {
      const refusal = v.safeParse(refusalSchema, answer);
      const reason = refusal.success ? refusal.output.message : `status ${response.status}`;
      throw new Error(`The user pool refused the user ${user}: ${reason}`);
    }
    const { AuthenticationResult: result, ChallengeName: challenge } = v.parse(answerSchema, answer);
    if (!result) throw new Error(`The user pool asks the user ${user} for ${challenge ?? 'more'} before it gives a token.`);
    return { access_token: result.AccessToken, expires_at: Math.floor(Date.now() / 1_000) + result.ExpiresIn };
  });
}
