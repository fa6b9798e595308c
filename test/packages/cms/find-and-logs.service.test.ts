import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startAnsweringServer, type AnsweringServer } from '../../support/answering-server.ts';
import { cmsIn } from './fake-terminal.ts';

const id = '00000000-0001-8000-8000-000000000000';
let server: AnsweringServer;
beforeAll(async () => {
  server = await startAnsweringServer();
});
afterAll(() => server.stop());

/** Runs a command against a service that gives these answers one after the other. */
async function cms(answers: object[], ...args: string[]) {
  const asked: string[] = [];
  server.answerWith((request, response) => {
    asked.push(String(request.url));
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answers.shift()));
  });
  const token = `e30.${Buffer.from(JSON.stringify({ sub: 'alice' })).toString('base64url')}.c2ln`;
  const env = { CMS_SERVER: server.endpoint, CMS_DOMAIN: 'd1', CMS_TOKEN: token };
  const { exitCode, stdout } = await cmsIn('/nowhere', { env, signal: new AbortController().signal })(...args);
  return { exitCode, stdout, asked };
}

describe('cms find', () => {
  it('prints what the service finds', async () => {
    const matches = [{ kind: 'asset', id, name: 'a.csv', matched: 'name' }];
    const found = await cms([{ matches }], 'find', 'a', '--kind', 'asset');
    expect(found).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`asset  ${id}  a.csv`) });
    expect(found.asked).toEqual(['/d1/find?q=a&limit=20&kind=asset']);
    expect((await cms([{ matches: [] }], 'find', 'a')).stdout).toBe('Nothing found.\n');
  });
});

describe('cms logs', () => {
  it('prints all pages of a log, and no escape of a line', async () => {
    const line = (message: string) => ({ time: '2026-01-01T00:00:00.000Z', level: 'info', message });
    const pages = [
      { logs: [line('a')], next: '1' },
      { logs: [], next: '2' },
      { logs: [line('b\u001b[2J')], next: '3' },
      { logs: [], next: '3' },
    ];
    const { stdout, asked } = await cms(pages, 'logs', id, '--level', 'info');
    expect(stdout).toBe('2026-01-01T00:00:00.000Z  info   a\n2026-01-01T00:00:00.000Z  info   b [2J\n');
    expect(asked.map((url) => new URL(url, 'http://a').searchParams.get('after'))).toEqual(['', '1', '2', '3']);
  });
});
