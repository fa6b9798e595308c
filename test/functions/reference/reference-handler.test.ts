import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleReference } from '../../../infra/bundles.ts';
import { referenceFiles } from '../../../functions/reference/reference-files.ts';
import type { handler as Handler } from '../../../functions/reference/reference-handler.ts';

const folder = mkdtempSync(join(tmpdir(), 'reference-'));
let handler: typeof Handler;

beforeAll(async () => {
  await bundleReference(folder);
  ({ handler } = (await import(/* @vite-ignore */ join(folder, 'index.mjs'))) as { handler: typeof Handler });
});
afterAll(() => rmSync(folder, { recursive: true }));

const get = async (rawPath: string, headers: Record<string, string> = {}) => {
  const { body = '', ...response } = await handler({ rawPath, headers });
  const packed = Buffer.from(body, 'base64');
  return { ...response, packed, content: response.headers['content-encoding'] === 'gzip' ? gunzipSync(packed) : packed };
};

describe('the function of the API reference', () => {
  it('serves the page and all that it loads', async () => {
    const page = (await get('/docs')).content.toString();
    const loaded = [...page.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address = '']) => address);
    expect(new Set(loaded)).toEqual(new Set([...Object.keys(referenceFiles()).slice(1), '/openapi.json']));
    for (const address of loaded.filter((each) => each !== '/openapi.json')) {
      const { statusCode, content } = await get(address);
      expect([address, statusCode, content.length > 100]).toEqual([address, 200, true]);
    }
  });

  it.each(Object.keys(referenceFiles()))(
    'lets browsers use only its own scripts and styles on %s, guess no types, and give no other site its window',
    async (path) => {
      const { headers } = await get(path);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['cross-origin-opener-policy']).toBe('same-origin');
      expect(headers['content-security-policy']).toMatch(
        /^default-src 'none'; script-src 'self'; style-src 'self';.* connect-src 'self';/,
      );
      expect(headers['content-type']).toMatch(/^(?:text\/(?:html|css|javascript); charset=utf-8|image\/png)$/);
    },
  );

  it('serves a page without the inline scripts, styles and event handlers that its policy forbids, and without a sign-in', async () => {
    const page = (await get('/docs')).content.toString();
    expect(page).toContain('<script ');
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\s(?:style|on\w+)=|<form/);
  });

  it.each([{}, { 'accept-encoding': 'identity' }, { 'accept-encoding': 'br, gzip' }])(
    'sends at most 500 KB for a file, compressed whatever the client asks for: %j',
    async (headers) => {
      for (const path of Object.keys(referenceFiles())) {
        const { packed, headers: answered } = await get(path, headers);
        expect([path, answered['content-encoding'], packed.length < 500_000]).toEqual([path, 'gzip', true]);
      }
    },
  );

  it('answers 304 to those that have the file already, and 404 for another path', async () => {
    const { headers } = await get('/docs');
    expect(await get('/docs', { 'if-none-match': headers['etag'] ?? '' })).toMatchObject({
      statusCode: 304,
      headers: { etag: headers['etag'] },
    });
    expect((await get('/docs/../index.mjs')).statusCode).toBe(404);
    expect((await get('/docs/files.json')).statusCode).toBe(404);
  });
});
