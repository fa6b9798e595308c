import { createServer } from 'node:http';
import { listen, type Listening } from '../local/listen.ts';
import { askEmulator, type EmulatorAddress } from './emulator-client.ts';

/**
 * Started with TLS, MiniStack's JWT authorizer still asks its own Cognito for the signing keys by plain HTTP, and gets none.
 * As the HTTP proxy of its process this takes that one question, and asks by TLS.
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
