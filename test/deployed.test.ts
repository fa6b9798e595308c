import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const script = join(import.meta.dirname, 'deployed.ts');
const token = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.e30`;
const administrator = token({ sub: 'a', groups: ['d1:administrator', 'd1:cvm'] });
const unreachable = ['--url', 'http://127.0.0.1:9'];

function deployed(...words: string[]) {
  const { status, stderr } = spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });
  return { status, message: stderr.split('\n')[0] };
}

describe('npm run test:deployed', () => {
  it.each([
    ['no URL', [], '--url is required.'],
    ['a URL that is none', ['--url', 'ftp://x'], '--url is "ftp://x"; expected https://...'],
    ['no token', unreachable, "--token is required: an administrator's."],
    ['a token that is no JWT', [...unreachable, '--token', 'a.b.c'], 'The token of the administrator is no JWT.'],
    ['a name nobody has', [...unreachable, '--token', `eve=${administrator}`], expect.stringMatching(/^--token names eve/)],
    ['a token of no domain', [...unreachable, '--token', token({ sub: 'a' })], expect.stringContaining('say --domain')],
  ])('says what is wrong with %s, and ends with 2', (_what, words, message) => {
    expect(deployed(...words)).toEqual({ status: 2, message });
  });

  it('says that no service is there, and ends with 1', () => {
    const message = expect.stringMatching(/^The service is not there: GET http:\/\/127\.0\.0\.1:9\/health answered nothing/);
    expect(deployed(...unreachable, '--token', administrator)).toEqual({ status: 1, message });
  });
});
