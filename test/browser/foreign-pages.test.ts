import { mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blockedByBrowsers } from '../../local/machine/listen.ts';
import { oneOf } from '../support/amounts.ts';
import { enginesOf, descendantsOf, killServices, startService, type ServiceProcess } from '../support/service-process.ts';
import { findChromium, launchChromium } from './chromium.ts';

const program = process.platform === 'linux' ? await findChromium() : undefined;
if (!program) console.warn('Foreign pages are not tested: install Chrome, or set CHROMIUM to the path of a Chromium.');

/** Chromium itself keeps public pages from this machine. Without that, only what the service does counts. */
const withoutOwnChecks =
  '--disable-features=LocalNetworkAccessChecks,PrivateNetworkAccessForNavigations,BlockInsecurePrivateNetworkRequests';
const rebound = 'rebound.example.com';

/** The pages of all origins. Routes of Playwright would answer preflights in place of the service. */
const pages = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>'));

/** The ports on which a process and its descendants listen. */
function portsOf(pids: number[]): number[] {
  const sockets = new Set(
    pids
      .flatMap((pid) => readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`)))
      .flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []),
  );
  const rows = ['tcp', 'tcp6'].flatMap((name) => readFileSync(`/proc/net/${name}`, 'utf8').split('\n').slice(1));
  return rows.flatMap((row) => {
    const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/);
    return state === '0A' && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : [];
  });
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // closed meanwhile
  }
}

interface Attempt {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

const paths = [
  ...['/', '/health', '/openapi.json', '/docs', '/docs/docs.js', '/favicon.ico', '/console/', '/content', '/content/a'],
  ...['token', 'cvm', 'domain'].map((name) => `/local/${name}`),
  ...['sign-in.js', 'jwks', '.well-known/openid-configuration', 'device_authorization', 'device', 'token'].map(
    (name) => `/local/issuer/${name}`,
  ),
  '/d1/computations',
];

/** Lists the requests that a page may try at a port: as a form can, with JSON, as a client of AWS, and with a token. */
function attemptsAt(port: number, token: string): Attempt[] {
  const ofMachine = JSON.stringify({ sub: 'eve', groups: ['d1:administrator'] });
  const json = { 'content-type': 'application/json' };
  const aws = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
    authorization: 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=host, Signature=f',
  };
  return paths.flatMap((path) => {
    const url = `http://localhost:${port}${path}`;
    const body = path === '/d1/computations' ? JSON.stringify({ name: 'Foreign' }) : ofMachine;
    return [
      { url, method: 'GET', headers: {} },
      { url, method: 'POST', headers: { 'content-type': 'text/plain' }, body },
      { url, method: 'POST', headers: json, body },
      { url, method: 'POST', headers: { ...json, authorization: `Bearer ${token}` }, body },
      { url, method: 'POST', headers: aws, body: '{}' },
      { url, method: 'DELETE', headers: {} },
    ];
  });
}

/** Sends all from a page. @returns those whose answer the page can read, with the status */
async function readable(page: Page, attempts: Attempt[]): Promise<string[]> {
  return await page.evaluate(async (attempts) => {
    const answers = attempts.map(async ({ url, method, headers, body }) => {
      const init = { method, headers, ...(body === undefined ? {} : { body }) };
      const sent = await Promise.allSettled([fetch(url, init), fetch(url, { ...init, mode: 'no-cors' })]);
      const [cors] = sent;
      return cors.status === 'fulfilled' ? [`${method} ${url} ${cors.value.status}`] : [];
    });
    return (await Promise.all(answers)).flat();
  }, attempts);
}

/** Checks whether a page can load an address as a script or an image. */
async function embeds(page: Page, url: string): Promise<boolean> {
  const load = (name: string) => `new Promise((resolve) => {
    const element = document.createElement('${name}');
    Object.assign(element, { src: '${url}', onload: () => resolve(true), onerror: () => resolve(false) });
    document.body.append(element);
  })`;
  return (await page.evaluate<boolean[]>(`Promise.all([${load('script')}, ${load('img')}])`)).includes(true);
}

describe.runIf(program !== undefined)('the listeners of npm start', () => {
  const data = join(mkdtempSync(join(tmpdir(), 'foreign-')), 'data');
  let service: ServiceProcess;
  let browser: Browser;
  let ports: number[];
  let token: string;

  beforeAll(async () => {
    if (!program) throw new Error('There is no browser.');
    mkdirSync(data, { mode: 0o755 });
    const environment = { GATEWAY_PORT: '' };
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    const { port } = pages.address() as AddressInfo;
    const args = ['--data', data, '--cors-origin', `http://app.example.com:${port}`];
    [service, browser] = await Promise.all([
      startService(args, 'umask 022', { environment }),
      launchChromium(program, [withoutOwnChecks, '--host-resolver-rules=MAP *.example.com 127.0.0.1']),
    ]);
    ports = portsOf([service.pid, ...descendantsOf(service.pid)]);
    token = /^export TOKEN=(\S+)$/m.exec(service.output())?.[1] ?? '';
  });
  afterAll(async () => {
    await browser.close();
    pages.close();
    await service.end('SIGTERM');
    killServices();
    rmSync(join(data, '..'), { recursive: true });
  });

  async function pageOf(origin: string): Promise<Page> {
    const page = await browser.newPage();
    await page.goto(`${origin}:${(pages.address() as AddressInfo).port}/`);
    return page;
  }

  const total = async () => (await service.call('GET', '/d1/computations')).body['total'];
  const upload = async () => {
    const { body } = await service.call('POST', '/d1/assets', { asset: { file_name: 'a.csv', asset_type: 'dataset' } });
    return { id: String(body['id']), ...(body['upload'] as { url: string; headers: Record<string, string> }) };
  };
  const put = ({ url, headers }: { url: string; headers: Record<string, string> }) => [
    { url, method: 'PUT', headers, body: 'x' },
  ];

  it('are the API, storage, the gateway for agents and the engine', () => {
    expect(ports).toHaveLength(4);
    expect(ports).toContain(Number(new URL(service.baseUrl).port));
    expect(blockedByBrowsers).toEqual(expect.arrayContaining(portsOf(enginesOf(service))));
  });

  it('are no ports to which Chromium connects, where they cannot look at what a page sends', async () => {
    const page = await browser.newPage();
    for (const port of blockedByBrowsers) {
      await expect(page.goto(`http://127.0.0.1:${port}/`)).rejects.toThrow('ERR_UNSAFE_PORT');
    }
    await page.close();
  });

  it('give a foreign page no answer, and do nothing for it', async () => {
    const link = await upload();
    for (const origin of oneOf(['http://evil.example.com', 'http://localhost.evil.example.com'])) {
      const page = await pageOf(origin);
      for (const port of ports) expect(await readable(page, attemptsAt(port, token))).toEqual([]);
      expect(await readable(page, put(link))).toEqual([]);
      for (const path of ['/docs/docs.js', '/favicon.ico', '/local/issuer/sign-in.js']) {
        expect([path, await embeds(page, service.baseUrl + path)]).toEqual([path, false]);
      }
      await page.close();
    }
    expect([await total(), (await service.call('GET', `/d1/assets/${link.id}`)).body['state']]).toEqual([0, 'pending']);
  });

  it.each(['http://localhost', 'http://app.example.com'])(
    'give a page of %s the API and presigned transfers alone',
    async (origin) => {
      const page = await pageOf(origin);
      const answers = (await Promise.all(ports.map((port) => readable(page, attemptsAt(port, token))))).flat();
      const refused = / (400|401|403|404|405|415)$/;
      const given = answers.filter((answer) => !refused.test(answer)).map((answer) => answer.replace(/http:\/\/[^/]+/, ''));
      expect([...new Set(given)].sort()).toEqual([
        'GET /health 200',
        'GET /local/issuer/.well-known/openid-configuration 200',
        'GET /local/issuer/jwks 200',
        'GET /openapi.json 200',
        'POST /d1/computations 201',
      ]);
      const link = await upload();
      expect(await readable(page, put(link))).toEqual([`PUT ${link.url} 200`]);
      await page.close();
    },
  );

  it('refuse every other host', async () => {
    const api = Number(new URL(service.baseUrl).port);
    for (const port of ports) {
      const page = await browser.newPage();
      for (const path of paths) {
        const answer = await page.goto(`http://${rebound}:${port}${path}`).catch(() => undefined);
        expect([port, path, [undefined, 421].includes(answer?.status())]).toEqual([port, path, true]);
      }
      await page.close();
    }
    for (const host of [
      'evil.example.com',
      `localhost.evil.example.com:${api}`,
      'localhost',
      `localhost:${api + 1}`,
      '127.0.0.2',
    ]) {
      const asked = send({ port: api, host: '127.0.0.1', path: '/health', headers: { host } }).end();
      const [{ statusCode }] = (await once(asked, 'response')) as [IncomingMessage];
      expect([host, statusCode]).toEqual([host, 421]);
    }
    for (const host of [`localhost:${api}`, `LOCALHOST:${api}`, `[::1]:${api}`]) {
      const asked = send({ port: api, host: '127.0.0.1', path: '/health', headers: { host } }).end();
      const [{ statusCode }] = (await once(asked, 'response')) as [IncomingMessage];
      expect([host, statusCode]).toEqual([host, 200]);
    }
  });

  it('keep a state that only its user can read', () => {
    const modes = readdirSync(data, { recursive: true, encoding: 'utf8' }).map((name) => {
      const found = statSync(join(data, name));
      return [name, (found.mode & 0o777).toString(8), found.isDirectory() ? '700' : '600'];
    });
    expect(modes.map(([name]) => name)).toEqual(
      expect.arrayContaining(['dynamodb.sqlite', 's3', 'evidence-keys.json', 'service.lock']),
    );
    expect(modes.filter(([, mode, expected]) => mode !== expected)).toEqual([]);
    expect((statSync(data).mode & 0o777).toString(8)).toBe('700');
  });
});
