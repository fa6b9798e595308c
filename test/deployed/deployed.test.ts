import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { deployedCommand } from './deployed.ts';

const token = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.e30`;
const administrator = token({ sub: 'a', groups: ['d1:administrator', 'd1:cvm'] });
const unreachable = ['--url', 'http://127.0.0.1:9'];

describe('npm run test:deployed', () => {
  it('exits with 2, prints the mistake and its usage, given no URL', () => {
    const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'deployed.ts')], { encoding: 'utf8' });
    expect(status).toBe(2);
    expect(stderr).toMatch(/^--url is required\.\n\nUsage: npm run test:deployed/);
  });

  it.each([
    ['an invalid URL', ['--url', 'ftp://x'], '--url is "ftp://x"; expected https://...'],
    ['no token', unreachable, "--token is required, with an administrator's token."],
    ['a token that is not a JWT', [...unreachable, '--token', 'a.b.c'], 'The token of the administrator is not a JWT.'],
    [
      'the token of an unknown person',
      [...unreachable, '--token', `eve=${administrator}`],
      expect.stringMatching(/^--token names eve/),
    ],
    ['a token without a domain', [...unreachable, '--token', token({ sub: 'a' })], expect.stringContaining('specify --domain')],
  ])('names the mistake on the command line, given %s', async (_what, words, message) => {
    await expect(deployedCommand(words)).rejects.toMatchObject({ name: 'UsageError', message });
  });

  it('fails when the service does not answer', async () => {
    const message = expect.stringMatching(/^The service does not answer: GET http:\/\/127\.0\.0\.1:9\/health answered nothing/);
    const deployed = deployedCommand([...unreachable, '--token', administrator]);
    await expect(deployed).rejects.toMatchObject({ name: 'Error', message });
  });
});
