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
    ['an invalid URL', ['--url', 'ftp://x'], '--url is "ftp://x"; expected https://...'],
    ['no token', unreachable, "--token is required, with an administrator's token."],
    ['a token that is not a JWT', [...unreachable, '--token', 'a.b.c'], 'The token of the administrator is not a JWT.'],
    [
      'the token of an unknown person',
      [...unreachable, '--token', `eve=${administrator}`],
      expect.stringMatching(/^--token names eve/),
    ],
    ['a token without a domain', [...unreachable, '--token', token({ sub: 'a' })], expect.stringContaining('specify --domain')],
  ])('exits with 2 and names the mistake, given %s', (_what, words, message) => {
    expect(deployed(...words)).toEqual({ status: 2, message });
  });

  it('exits with 1 when the service does not answer', () => {
    const message = expect.stringMatching(/^The service does not answer: GET http:\/\/127\.0\.0\.1:9\/health answered nothing/);
    expect(deployed(...unreachable, '--token', administrator)).toEqual({ status: 1, message });
  });
});
