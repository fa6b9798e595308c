import { createServer } from 'node:http';
import { listen, type Listening } from '../local/listen.ts';
import { askEmulator, type EmulatorAddress } from './emulator-client.ts';

/**
 * With TLS, MiniStack's JWT authorizer still requests the signing keys of its own Cognito by plain HTTP, and fails. This HTTP
 * proxy of the emulator's process receives that request and forwards it with TLS.
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
