import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

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
