import { loopbackSignIn } from 'computation-management-client/node';
import { describe, expect, it } from 'vitest';
import { loopbackPorts } from '../../../infra/state/users.ts';
import { findingsOf, flat, fullStage, ownStage, synthesize } from '../../support/synthesized-stages.ts';
import { startAnsweringServer } from '../../support/answering-server.ts';

const page = 'https://app.example.com/callback';
const row = { ...ownStage, publicClient: { callbackUrls: [page], logoutUrls: ['https://app.example.com/'] } };

interface ClientProperties {
  CallbackURLs?: string[];
  LogoutURLs?: string[];
  AllowedOAuthFlows?: string[];
  GenerateSecret?: boolean;
}

function stacksOf(stage: typeof ownStage) {
  const [synthesized] = synthesize([stage]);
  if (!synthesized) throw new Error('There is no stage.');
  return synthesized.stacks;
}

function publicClientOf(stage: typeof ownStage): [id: string, properties: ClientProperties] {
  const found = Object.entries(stacksOf(stage).state.ofType<ClientProperties>('AWS::Cognito::UserPoolClient'));
  const [client, ...others] = found.filter(([, { CallbackURLs }]) => CallbackURLs?.every((url) => typeof url === 'string'));
  if (!client || others.length > 0) throw new Error('Expected one public client.');
  return client;
}

/** Returns the address to which `cms login` asks the issuer to send the browser, for another port. */
async function redirectTo(port: number): Promise<string> {
  const server = await startAnsweringServer();
  const { endpoint } = server;
  server.answerWith((_, response) => {
    const document = { issuer: endpoint, authorization_endpoint: `${endpoint}/sign-in`, token_endpoint: `${endpoint}/token` };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  });
  const ending = new AbortController();
  let opened = '';
  const open = (url: string) => {
    opened = url;
    ending.abort(new Error('enough'));
  };
  await expect(loopbackSignIn({ issuer: endpoint, clientId: 'c', open, signal: ending.signal })).rejects.toThrow('enough');
  await server.stop();
  return (new URL(opened).searchParams.get('redirect_uri') ?? '').replace(/:\d+\//, `:${port}/`);
}

describe('a stage with a public client', () => {
  it('lets users of its own pool sign in by code, back to its pages and to each port of cms login', async () => {
    const [id, client] = publicClientOf(row);
    const loopback = await Promise.all(loopbackPorts.map(redirectTo));
    expect(client).toMatchObject({
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid'],
      SupportedIdentityProviders: ['COGNITO'],
      CallbackURLs: [...loopback, page],
      LogoutURLs: ['https://app.example.com/'],
    });
    expect(client.GenerateSecret ?? false).toBe(false);
    const { state, service } = stacksOf(row);
    const [authorizer] = Object.values(
      service.ofType<{ JwtConfiguration: { Audience: unknown[] } }>('AWS::ApiGatewayV2::Authorizer'),
    );
    expect(authorizer?.JwtConfiguration.Audience.map(flat)).toContainEqual(expect.stringContaining(id));
    expect(state.outputs).toEqual(
      expect.arrayContaining([expect.stringMatching(/^UsersPublicClientId/), expect.stringMatching(/^UsersIssuer/)]),
    );
  });

  it.each([
    ['without a console', row, 1],
    ['with a console', { ...row, console: {} }, 2],
  ])('has sign-in pages for each client: %s', (_, stage, clients) => {
    const { state } = stacksOf(stage);
    expect(Object.keys(state.ofType('AWS::Cognito::UserPoolDomain'))).toHaveLength(1);
    const brandings = Object.values(state.ofType<{ ClientId: unknown }>('AWS::Cognito::ManagedLoginBranding'));
    expect(brandings).toHaveLength(clients);
    expect(brandings.map(({ ClientId }) => flat(ClientId))).toContain(`<${publicClientOf(stage)[0]}>`);
  });

  it('passes cdk-nag without findings', () => {
    expect(findingsOf({ ...row, console: {} })).toEqual([]);
  });

  it('needs no page: cms login is served alone', () => {
    const [, { CallbackURLs, LogoutURLs }] = publicClientOf({ ...ownStage, publicClient: {} });
    expect(CallbackURLs).toHaveLength(loopbackPorts.length);
    expect(LogoutURLs ?? []).toEqual([]);
  });

  it('is refused if its users are elsewhere', () => {
    expect(() => synthesize([{ ...fullStage, publicClient: {} }])).toThrow('make its public client where its users are');
  });
});
