import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { passwordSignIn } from '../../../../functions/operations/canary/canary-handler.ts';

const asked: unknown[] = [];
let answer: { status: number; body: object };
let server: Server;
let issuer: string;

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { 'x-amz-target': target, 'content-type': type, authorization } = request.headers;
      asked.push({
        url: request.url,
        target,
        type,
        authorization,
        body: JSON.parse(Buffer.concat(chunks).toString()) as unknown,
      });
      response.writeHead(answer.status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/eu-central-1_abc`;
});
afterAll(() => server.close());

const tokenOf = () => passwordSignIn({ issuer, clientId: 'client-1', user: 'canary', password: 'a-password' });
const signal = new AbortController().signal;

describe('passwordSignIn', () => {
  it('asks the user pool for an access token, once for all calls', async () => {
    answer = { status: 200, body: { AuthenticationResult: { AccessToken: 'token-1', ExpiresIn: 3600 } } };
    const token = tokenOf();
    expect([await token({ signal }), await token({ signal })]).toEqual(['token-1', 'token-1']);
    expect(asked.splice(0)).toEqual([
      {
        url: '/',
        target: 'AWSCognitoIdentityProviderService.InitiateAuth',
        type: 'application/x-amz-json-1.1',
        authorization: undefined,
        body: {
          AuthFlow: 'USER_PASSWORD_AUTH',
          ClientId: 'client-1',
          AuthParameters: { USERNAME: 'canary', PASSWORD: 'a-password' },
        },
      },
    ]);
  });

  it('says why the pool refused, without the password', async () => {
    answer = { status: 400, body: { __type: 'NotAuthorizedException', message: 'Incorrect username or password.' } };
    await expect(tokenOf()({ signal })).rejects.toThrow(
      /^The user pool refused the user canary: Incorrect username or password\.$/,
    );
  });

  it('says that the pool asks for more, as it does before the password is set', async () => {
    answer = { status: 200, body: { ChallengeName: 'NEW_PASSWORD_REQUIRED', Session: 's' } };
    await expect(tokenOf()({ signal })).rejects.toThrow('asks the user canary for NEW_PASSWORD_REQUIRED before it gives a token');
  });
});
