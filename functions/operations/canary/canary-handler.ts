import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { clientCredentials, type Token } from 'computation-management-client';
import * as v from 'valibot';
import { environment } from '../../../shared/runtime/environment.ts';
import type { Invocation } from '../../../shared/runtime/deadline.ts';
import { log, withLogFields } from '../../../shared/runtime/log.ts';
import { canaryDomain, canarySettings, type CanarySettings } from './canary-settings.ts';
import { passwordSignIn } from './password-sign-in.ts';
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
