import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { neverProxyLoopback } from 'computation-management-client/node';
import { afterAll, describe, expect, it } from 'vitest';
import { compileCache } from '../../support/compile-cache.ts';

const home = mkdtempSync(join(tmpdir(), 'cms-'));
afterAll(() => rmSync(home, { recursive: true }));

const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy', 'https_proxy'];
const read = ['proxy.example:3128', '127.0.0.1:9', 'user:secret@host:1', '[::1]:9', ' http://h:1 ', 'http://h:1/', 'direct', ' '];
const wrong = [
  '//secret',
  '/secret',
  'http://user:secret@bad host:3128',
  'secret:99999',
  'ftp://secret',
  'http://',
  ':',
  '%secret%',
];

describe('a variable that names a proxy', () => {
  const cases = (values: string[]) => names.flatMap((name) => values.map((value) => [name, value] as const));

  it.each(cases(read))('%s is read as curl reads it: %j', (name, value) => {
    expect(() => neverProxyLoopback({ NODE_USE_ENV_PROXY: '1', [name]: value })).not.toThrow();
  });

  it.each(names)('%s may have a password with signs that addresses encode, and with a %% of its own', (name) => {
    for (const [given, read] of [
      ['p%40ss', 'p%40ss'],
      ['pa%ss', 'pa%25ss'],
      ['100%', '100%25'],
      ['%zz@', '%25zz%40'],
    ]) {
      const used = neverProxyLoopback({ NODE_USE_ENV_PROXY: '1', [name]: `http://us%r:${given}@127.0.0.1:9` });
      expect(used[name]).toBe(`http://us%25r:${read}@127.0.0.1:9`);
    }
  });

  it.each(cases(wrong))('%s is refused by its name, without its value: %j', (name, value) => {
    expect(() => neverProxyLoopback({ NODE_USE_ENV_PROXY: '1', [name]: value })).toThrow(
      `${name} is not the address of a proxy. Expected one such as http://proxy.example.com:3128.`,
    );
  });

  it('is read only by commands that need the network, and ends them with 2 if it is wrong', () => {
    const program = join(import.meta.dirname, '../../../packages/cms/cms.ts');
    const cms = (...args: string[]) => {
      const env = { ...compileCache, HOME: home, HTTP_PROXY: 'http://user:secret@bad host' };
      const { status, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', env });
      return { status, stderr };
    };
    expect(cms('--version')).toEqual({ status: 0, stderr: '' });
    const { status, stderr } = cms('whoami', '--json');
    expect({ status, ...(JSON.parse(stderr) as object) }).toMatchObject({
      status: 2,
      error: expect.stringMatching(/^HTTP_PROXY is not the address/),
    });
  });
});
