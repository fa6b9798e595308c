import { readFileSync } from 'node:fs';
import { createLocalJWKSet, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { authorize } from '../../../local/http-api/authorize.ts';
import { callerOf } from '../../../shared/http/caller.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const page = readFileSync(new URL('../../../docs/identity-providers.md', import.meta.url), 'utf8');

const signer = sharedByTests(async () => {
  const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true });
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] });
  return { privateKey, keys, stop: () => Promise.resolve() };
});

const groups = ['d1:creator', 'd1:runner', 'other:administrator'];

/**
 * Access tokens of identity providers that are set up as docs/identity-providers.md says, with the claims that each adds of its
 * own.
 */
const tokens = {
  Okta: {
    issuer: 'https://acme.okta.com/oauth2/computations',
    audience: 'computations',
    claim: 'memberships',
    header: {},
    claims: {
      ver: 1,
      jti: 'AT.x',
      aud: 'computations',
      cid: '0oa1',
      uid: '00u1',
      scp: ['openid'],
      sub: 'ada@example.com',
      memberships: groups,
    },
  },
  'Entra ID': {
    issuer: 'https://login.microsoftonline.com/11111111-2222-3333-4444-555555555555/v2.0',
    audience: '66666666-7777-8888-9999-000000000000',
    claim: 'roles',
    header: { x5t: 'k' },
    claims: {
      aud: '66666666-7777-8888-9999-000000000000',
      azp: 'aaaaaaaa-0000-0000-0000-000000000000',
      oid: 'bbbbbbbb-0000-0000-0000-000000000000',
      rh: '0.x',
      roles: groups,
      scp: 'access',
      sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
      tid: '11111111-2222-3333-4444-555555555555',
      uti: 'x',
      ver: '2.0',
    },
  },
  Keycloak: {
    issuer: 'https://login.example.com/realms/acme',
    audience: 'computations',
    claim: 'memberships',
    header: {},
    claims: {
      aud: ['computations', 'account'],
      azp: 'console',
      typ: 'Bearer',
      sub: '3a5f1c1e-0000-4000-8000-000000000000',
      realm_access: { roles: ['offline_access'] },
      scope: 'openid',
      memberships: groups,
    },
  },
  Cognito: {
    issuer: 'https://cognito-idp.eu-central-1.amazonaws.com/eu-central-1_x',
    audience: '1h57kf5cpq17m0eml12EXAMPLE',
    claim: 'cognito:groups',
    header: {},
    claims: {
      client_id: '1h57kf5cpq17m0eml12EXAMPLE',
      token_use: 'access',
      scope: 'openid',
      sub: 'c2d5a4d4-0000-7000-8000-000000000000',
      username: 'ada',
      'cognito:groups': groups,
    },
  },
};

type Provider = (typeof tokens)[keyof typeof tokens];

async function rolesFor({ issuer, audience, header, claim }: Provider, claims: object): Promise<string[]> {
  const token = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: 'k', ...header })
    .setIssuer(issuer)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(signer.privateKey);
  const authorization = await authorize(`Bearer ${token}`, { issuer, audience, keys: signer.keys });
  if ('challenge' in authorization) throw new Error(authorization.challenge);
  return [...callerOf(authorization.claims, claim, 'd1').roles].sort();
}

it.each(Object.entries(tokens))(
  'a token of %s gives the roles of its groups, with the claim that the page names',
  async (name, provider) => {
    expect(await rolesFor(provider, provider.claims)).toEqual(['creator', 'runner']);
    const [, section = ''] = page.split(`\n## ${name}\n`);
    expect(section.split('\n## ')[0]).toContain(`membershipClaim: '${provider.claim}'`);
  },
);

it.each<[string, Provider, object, string]>([
  [
    'Keycloak with full group paths',
    tokens.Keycloak,
    { memberships: groups.map((group) => `/${group}`) },
    'no role in the domain d1',
  ],
  ['Keycloak without an audience mapper', tokens.Keycloak, { aud: 'account' }, 'valid audience'],
  [
    'Entra ID with groups, which are object ids',
    tokens['Entra ID'],
    { roles: undefined, groups: ['d1'] },
    'no role in the domain d1',
  ],
  ['Cognito with an ID token', tokens.Cognito, { token_use: 'id', aud: '1h57kf5cpq17m0eml12EXAMPLE' }, 'not an access token'],
])('refuses a token of %s', async (_what, provider, changed, why) => {
  await expect(rolesFor(provider, { ...provider.claims, ...changed })).rejects.toThrow(why);
});
