import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { findingsOf, flat, fullStage, ownStage, synthesize, type SynthesizedStage } from '../../support/synthesized-stages.ts';

const withPool = { ...ownStage, name: 'pool', console: {} };

function consoleOf([synthesized]: SynthesizedStage[]) {
  if (!synthesized?.console) throw new Error('The stage has no console.');
  return { ...synthesized.stacks, ...synthesized.console };
}

const full = consoleOf(synthesize([fullStage]));
const pool = consoleOf(synthesize([withPool]));

const only = <P>(found: Record<string, P>): P => {
  const [first, ...others] = Object.values(found);
  if (first === undefined || others.length > 0) throw new Error(`Expected one resource, found ${Object.keys(found).join()}.`);
  return first;
};

describe('a stage without a console', () => {
  it('has neither CloudFront nor sign-in pages', () => {
    const [stage] = synthesize([ownStage]);
    expect(stage?.console).toBeUndefined();
    expect(stage?.stacks.state.ofType('AWS::Cognito::UserPoolDomain')).toEqual({});
    expect(Object.keys(stage?.stacks.state.ofType('AWS::Cognito::UserPoolClient') ?? {})).toHaveLength(1);
  });
});

describe('a stage with a console', () => {
  it.each([fullStage, withPool])('passes cdk-nag without findings: $name', (row) => {
    expect(findingsOf(row)).toEqual([]);
  });

  it('keeps its files in a private bucket that only its distribution reads', () => {
    const bucket = only(pool.site.ofType('AWS::S3::Bucket'));
    const closed = { BlockPublicAcls: true, BlockPublicPolicy: true, IgnorePublicAcls: true, RestrictPublicBuckets: true };
    expect(bucket).toMatchObject({ PublicAccessBlockConfiguration: closed });
    const policy = only(
      pool.site.ofType<{
        PolicyDocument: { Statement: { Effect: string; Action: string; Principal: object; Condition: object }[] };
      }>('AWS::S3::BucketPolicy'),
    );
    const allowed = policy.PolicyDocument.Statement.filter(({ Effect }) => Effect === 'Allow');
    expect(allowed).toHaveLength(1);
    expect(allowed[0]).toMatchObject({ Action: 's3:GetObject', Principal: { Service: 'cloudfront.amazonaws.com' } });
    const [distribution = ''] = Object.keys(pool.site.ofType('AWS::CloudFront::Distribution'));
    expect(JSON.stringify(allowed[0]?.Condition)).toContain(distribution);
  });

  it('redirects to https, compresses, and sends security headers with every file', () => {
    const { DistributionConfig: config } = only(
      full.site.ofType<{ DistributionConfig: Record<string, unknown> }>('AWS::CloudFront::Distribution'),
    );
    expect(config).toMatchObject({
      Aliases: ['console.example.com'],
      ViewerCertificate: { MinimumProtocolVersion: 'TLSv1.2_2021', SslSupportMethod: 'sni-only' },
      DefaultCacheBehavior: {
        AllowedMethods: ['GET', 'HEAD'],
        Compress: true,
        ViewerProtocolPolicy: 'redirect-to-https',
        ResponseHeadersPolicyId: expect.anything(),
      },
    });
    const headers = only(full.site.ofType('AWS::CloudFront::ResponseHeadersPolicy'));
    expect(headers).toMatchObject({
      ResponseHeadersPolicyConfig: {
        SecurityHeadersConfig: {
          ContentSecurityPolicy: {
            Override: true,
            ContentSecurityPolicy: expect.stringMatching(/default-src 'none'; script-src 'self'; .*frame-ancestors 'none'/),
          },
          ContentTypeOptions: { Override: true },
          FrameOptions: { FrameOption: 'DENY' },
          StrictTransportSecurity: { AccessControlMaxAgeSec: 31_536_000 },
        },
      },
    });
  });

  it('writes the addresses of the stage at deployment, and lets browsers keep only files with a hash in their name', () => {
    const deployments = Object.values(
      full.files.ofType<{ SystemMetadata: object; SourceMarkers?: object[]; Prune: boolean }>('Custom::CDKBucketDeployment'),
    );
    expect(deployments.map(({ SystemMetadata }) => SystemMetadata)).toEqual([
      { 'cache-control': 'public, max-age=31536000, immutable' },
      { 'cache-control': 'no-cache' },
      { 'cache-control': 'no-cache' },
    ]);
    expect(deployments.map(({ Prune }) => Prune)).toEqual([false, false, false]);
    const inserted = pool.files.ofType<{ SourceMarkers?: object[] }>('Custom::CDKBucketDeployment');
    const values = JSON.stringify(Object.values(inserted).map(({ SourceMarkers }) => SourceMarkers));
    for (const name of ['Content', 'ApiHttp', 'UsersPoolConsole']) expect(values).toContain(name);
  });

  it('may call the API and use presigned links', () => {
    const api = only(full.service.ofType<{ CorsConfiguration: { AllowOrigins: string[] } }>('AWS::ApiGatewayV2::Api'));
    expect(api.CorsConfiguration.AllowOrigins).toEqual(['https://app.example.com', 'https://console.example.com']);
    const [origin] = only(
      pool.service.ofType<{ CorsConfiguration: { AllowOrigins: unknown[] } }>('AWS::ApiGatewayV2::Api'),
    ).CorsConfiguration.AllowOrigins.slice(-1);
    expect(flat(origin)).toMatch(/^https:\/\/.*Distribution/);
  });

  it('signs in at the user pool of the stage, by a client that can only return to the console', () => {
    const clients = Object.values(pool.state.ofType<Record<string, unknown>>('AWS::Cognito::UserPoolClient'));
    const client = clients.find(({ CallbackURLs }) => CallbackURLs !== undefined);
    expect(client).toMatchObject({
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid'],
      SupportedIdentityProviders: ['COGNITO'],
    });
    expect(client?.['GenerateSecret'] ?? false).toBe(false);
    const [callback] = client?.['CallbackURLs'] as unknown[];
    expect(flat(callback)).toMatch(/^https:\/\/.*Distribution.*\/console\/$/);
    expect(clients).toHaveLength(2);
    const authorizer = only(pool.service.ofType<{ JwtConfiguration: { Audience: unknown[] } }>('AWS::ApiGatewayV2::Authorizer'));
    expect(authorizer.JwtConfiguration.Audience).toHaveLength(2);
  });

  it('must name a client if its users are elsewhere', () => {
    expect(() => synthesize([{ ...fullStage, console: {} }])).toThrow(/needs a client of its issuer/);
  });
});

describe('the function that CloudFront calls for each request', () => {
  const code = readFileSync(new URL('../../../infra/console/viewer-request.js', import.meta.url), 'utf8');
  const handle = (uri: string) =>
    runInNewContext(`${code}; handler({ request: { uri: ${JSON.stringify(uri)} } })`) as { uri?: string; statusCode?: number };

  it.each(['/console/', '/console/d1/computations/42', '/console/d1/cvms/cvm.1'])('serves the page for %s', (uri) => {
    expect(handle(uri).uri).toBe('/console/index.html');
  });

  it.each(['/console/assets/index-1.js', '/console/config.json', '/help/search.js'])('serves the file %s', (uri) => {
    expect(handle(uri).uri).toBe(uri);
  });

  it('serves the start of the help at /help/', () => {
    expect(handle('/help/').uri).toBe('/help/index.html');
  });

  it.each(['/', '/console', '/index.html'])('leads from %s to the console', (uri) => {
    expect(handle(uri)).toMatchObject({ statusCode: 302, headers: { location: { value: '/console/' } } });
  });
});
