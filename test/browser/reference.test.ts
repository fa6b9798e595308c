import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleReference } from '../../infra/bundles.ts';
import type { handler as Handler } from '../../functions/reference/reference-handler.ts';
import { openapiDocument } from '../../shared/openapi/openapi-document.ts';
import { findChromium, launchChromium } from './chromium.ts';

const program = await findChromium();
if (!program) console.warn('The API reference is not tested: install Chrome, or set CHROMIUM to the path of a Chromium.');

/** Requests that reached the API, besides those for the page: method, path and token. */
const asked: string[] = [];

/** Serves the page as API Gateway does, by its bundled function, beside an API that answers every request with `{}`. */
async function startStage(folder: string): Promise<Server> {
  await bundleReference(folder);
  const { handler } = (await import(/* @vite-ignore */ join(folder, 'index.mjs'))) as { handler: typeof Handler };
  const server = createServer((request, response) => {
    const rawPath = request.url ?? '/';
    if (!rawPath.startsWith('/docs')) {
      if (rawPath !== '/openapi.json') asked.push(`${request.method} ${rawPath} ${request.headers.authorization}`);
      const body = rawPath === '/openapi.json' ? openapiDocument('0.1.0') : {};
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    void handler({ rawPath, headers: request.headers as Record<string, string> }).then(({ statusCode, headers, body = '' }) => {
      response.writeHead(statusCode, headers).end(Buffer.from(body, 'base64'));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe.runIf(program !== undefined)('the API reference of a stage', () => {
  const folder = mkdtempSync(join(tmpdir(), 'reference-'));
  let server: Server;
  let browser: Browser;

  beforeAll(async () => {
    if (!program) throw new Error('There is no browser.');
    [server, browser] = await Promise.all([startStage(folder), launchChromium(program)]);
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    rmSync(folder, { recursive: true });
  });

  it('shows every operation within its policy, and sends the token that a user enters', async () => {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const faults: string[] = [];
    page.on('pageerror', ({ message }) => faults.push(message));
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/docs`);
    await page.getByText('List computations, newest first').waitFor();
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    await page.locator('.modal-ux input').first().fill('my-token');
    await page.locator('.modal-ux').getByRole('button', { name: 'Apply credentials' }).first().click();
    await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).first().click();
    await page.getByText('List computations, newest first').click();
    await page.getByRole('button', { name: 'Execute' }).waitFor();
    await page.getByPlaceholder('domainID').first().fill('d1');
    await page.getByRole('button', { name: 'Execute' }).click();
    await expect.poll(() => asked).toEqual([expect.stringMatching(/^GET \/d1\/computations\S* Bearer my-token$/)]);
    expect(faults).toEqual([]);
  });
});
