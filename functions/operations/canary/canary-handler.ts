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
 * The milliseconds that the steps of the canary may take: longer than a healthy run, and short enough to delete everything before the
 * function times out.
 */
const stepsInMilliseconds = 150_000;

/** Runs the canary once. An alarm watches the errors of its function, so it throws on any trouble. */
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
