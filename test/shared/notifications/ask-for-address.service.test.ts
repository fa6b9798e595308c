import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { listen } from '../../../local/machine/listen.ts';
import { askForAddress } from '../../../shared/notifications/ask-for-address.ts';

let stop: () => Promise<void>;
let answer: { status: number; body: unknown };
const verified = { sub: 'bob', email: 'bob@example.com', email_verified: 'true' };

beforeAll(async () => {
  const server = createServer(({ url, headers }, response) => {
    const endpoint = { userinfo_endpoint: `http://${headers.host ?? ''}/userinfo` };
    const isAllowed = headers.authorization === 'Bearer token';
    const { status, body } =
      url === '/userinfo' ? (isAllowed ? answer : { status: 401, body: {} }) : { status: 200, body: endpoint };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  const listening = await listen(server, 0);
  ({ stop } = listening);
  process.env['ISSUER_URL'] = listening.endpoint;
});
beforeEach(() => {
  answer = { status: 200, body: verified };
});
afterAll(async () => {
  await stop();
});

it('returns the verified address that the userinfo endpoint of the issuer names, asked with the token', async () => {
  expect(await askForAddress('bob', 'Bearer token')).toBe('bob@example.com');
});

it.each([
  ['of another user', { ...verified, sub: 'carol' }],
  ['that is not verified', { ...verified, email_verified: 'false' }],
  ['with a line break', { ...verified, email: 'bob@example.com\r\nBcc: all@example.com' }],
  ['that is missing', { sub: 'bob' }],
])('refuses an address %s', async (_, body) => {
  answer = { status: 200, body };
  await expect(askForAddress('bob', 'Bearer token')).rejects.toMatchObject({
    code: 'conflict',
    extras: { reason: 'no_verified_address' },
  });
});

it('refuses without an address if the issuer refuses the token', async () => {
  await expect(askForAddress('bob', 'Bearer other')).rejects.toMatchObject({ code: 'conflict' });
});

it('is unavailable while the issuer fails', async () => {
  answer = { status: 503, body: {} };
  await expect(askForAddress('bob', 'Bearer token')).rejects.toMatchObject({ code: 'unavailable' });
});
