import { createServer } from 'node:http';
import { listen, type Listening } from '../../local/machine/listen.ts';
import { askEmulator, type EmulatorAddress } from './emulator-client.ts';

/**
 * Even when MiniStack runs with TLS, its JWT authorizer requests the signing keys from its own Cognito over plain HTTP, and gets
 * none. This server is the HTTP proxy of MiniStack's process, and forwards that request over TLS.
 */
export async function startKeyRelay(emulator: EmulatorAddress): Promise<Listening> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', emulator.endpoint);
    askEmulator(emulator, { path: pathname }).then(
      ({ status, text }) => response.writeHead(status, { 'content-type': 'application/json' }).end(text),
      (error: unknown) => response.writeHead(502).end(String(error)),
    );
  });
  return await listen(server, 0);
}
