import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { handler } from '../../../../functions/operations/canary/canary-handler.ts';
import type { CanarySettings } from '../../../../functions/operations/canary/canary-settings.ts';
import { startStack, type Stack } from '../../../../local/stack.ts';

const secretId = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:computations-dev-canary-a1b2c3';
const password = 'made-by-the-deployment';

/** The requests that Secrets Manager and the user pool received, with the name of the operation. */
const asked: [operation: unknown, input: unknown][] = [];
let answers: Record<string, object>;
let aws: Server;
let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  const token = await stack.token('canary', ['canary:administrator', 'canary:cvm']);
  answers = {
    'secretsmanager.GetSecretValue': { SecretString: password },
    'AWSCognitoIdentityProviderService.InitiateAuth': { AuthenticationResult: { AccessToken: token, ExpiresIn: 3600 } },
  };
  aws = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const operation = String(request.headers['x-amz-target']);
      asked.push([operation, JSON.parse(Buffer.concat(chunks).toString())]);
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answers[operation]));
    });
  });
  await new Promise<void>((resolve) => aws.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  aws.close();
  vi.unstubAllEnvs();
  await stack.stop();
});

beforeEach(() => {
  const address = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
  const settings: CanarySettings = {
    signIn: 'password',
    apiUrl: stack.baseUrl,
    issuer: `${address}/eu-central-1_abc`,
    clientId: 'client-1',
    user: 'canary',
    secretId,
  };
  vi.stubEnv('CANARY', JSON.stringify(settings));
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', address);
});

describe('the function of the canary', () => {
  it('signs in with the password of its secret, and tells how long each step of the run took', async () => {
    const milliseconds = await handler({});
    expect(Object.keys(milliseconds)).toContain('see the run end');
    expect(asked).toEqual([
      ['secretsmanager.GetSecretValue', { SecretId: secretId }],
      [
        'AWSCognitoIdentityProviderService.InitiateAuth',
        {
          AuthFlow: 'USER_PASSWORD_AUTH',
          ClientId: 'client-1',
          AuthParameters: { USERNAME: 'canary', PASSWORD: password },
        },
      ],
    ]);
  });

  it('throws the failed step', async () => {
    answers['AWSCognitoIdentityProviderService.InitiateAuth'] = { ChallengeName: 'NEW_PASSWORD_REQUIRED' };
    await expect(handler({})).rejects.toThrow('Could not sign in: The user pool asks the user canary for NEW_PASSWORD_REQUIRED');
  });
});
