import { describe, expect, it } from 'vitest';
import type { Person } from '../support/target.ts';
import { itAs, useSession } from '../support/session.ts';

const session = useSession();

async function ask(method: 'GET' | 'HEAD', path: string, more: { headers?: Record<string, string>; as?: Person | null } = {}) {
  const { headers = {}, as = 'administrator' } = more;
  const { baseUrl, domain, tokenOf } = session.target;
  const token: Record<string, string> = as === null ? {} : { authorization: `Bearer ${tokenOf(as)}` };
  const url = `${baseUrl}${path.replace('{domainID}', domain)}`;
  const response = await fetch(url, { method, headers: { ...token, ...headers } });
  const { status, headers: answered } = response;
  const shown = ['content-type', 'cache-control', 'etag', 'manifest-digest', 'configuration-digest'].map(
    (name) => [name, answered.get(name)] as const,
  );
  return { status, headers: Object.fromEntries(shown), text: await response.text() };
}

describe('HEAD', () => {
  it('has the status and the headers of GET, and no body', async () => {
    const id = await session.readyComputation();
    const computation = `/{domainID}/computations/${id}`;
    const paths = [
      '/{domainID}/computations',
      computation,
      `${computation}/manifest`,
      `${computation}/run`,
      `${computation}/events?limit=0`,
    ];
    const statuses: number[] = [];
    for (const path of paths) {
      const { text, ...asGet } = await ask('GET', path);
      expect(text).not.toBe('');
      expect([path, await ask('HEAD', path)]).toEqual([path, { ...asGet, text: '' }]);
      statuses.push(asGet.status);
    }
    expect(statuses).toEqual([200, 200, 200, 404, 400]);
  });

  it('is answered with 304 if If-None-Match names the ETag', async () => {
    const path = `/{domainID}/computations/${(await session.createComputation()).id}`;
    const { etag } = (await ask('HEAD', path)).headers;
    expect(etag).toMatch(/^"/);
    const { status, headers } = await ask('HEAD', path, { headers: { 'if-none-match': String(etag) } });
    expect([status, headers['etag']]).toEqual([304, etag]);
  });

  it.each(['/health', '/openapi.json', '/.well-known/jwks.json'])('of %s needs no token', async (path) => {
    const { status, headers } = await ask('HEAD', path, { as: null });
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
  });

  it('is answered with 401 without a token, and with 404 where a GET would stop a run', async () => {
    const { id } = await session.createComputation();
    expect((await ask('HEAD', '/{domainID}/computations', { as: null })).status).toBe(401);
    expect((await ask('HEAD', `/{domainID}/computations/${id}/stop`)).status).toBe(404);
  });

  itAs(['viewer'], 'of an asset is not recorded as a read of its content', async () => {
    const { id } = await session.createAsset({ content_access: 'domain' });
    const path = `/{domainID}/assets/${id}`;
    expect((await ask('HEAD', path, { as: 'viewer' })).status).toBe(200);
    expect((await session.done('assets/get-asset', { path: { id } })).content_reads).toEqual([]);
    expect((await ask('GET', path, { as: 'viewer' })).status).toBe(200);
    expect((await session.done('assets/get-asset', { path: { id } })).content_reads).toHaveLength(1);
  });
});
