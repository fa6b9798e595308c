import type { Server } from 'node:http';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

export interface Listening {
  endpoint: string;
  port: number;
  /** Refuses new connections, closes idle ones, and gives requests in progress two seconds. */
  stop: () => Promise<void>;
}

/** Makes a server listen on the loopback interface. @throws Error with code EADDRINUSE if the port is taken */
export async function listen(server: Server, port: number): Promise<Listening> {
  // Clients are told that idle connections stay open for 5 seconds. A busy client may send its next request later.
  server.keepAliveTimeoutBuffer = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The operating system assigned no port.');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    port: address.port,
    stop: () =>
      new Promise((resolve) => {
        const closeTimer = setTimeout(() => server.closeAllConnections(), 2_000);
        server.close(() => {
          clearTimeout(closeTimer);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

/** Below the ports that Linux and macOS give to outgoing connections and to servers without a port of their own. */
const lowest = 15_000;
const highest = 32_000;
const mostAttempts = 100;

/**
 * Finds a TCP port of the loopback interface that is free at this moment. No process gets it until it asks for this very port.
 * @throws Error if no port seems free
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const port = randomInt(lowest, highest);
    if (await isFree(port, '127.0.0.1')) return port;
  }
  throw new Error(`No TCP port of 127.0.0.1 between ${lowest} and ${highest} is free.`);
}

/** Whether a TCP port of an interface is free at this moment. */
export async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
