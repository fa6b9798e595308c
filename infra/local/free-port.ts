import { createServer } from 'node:net';

/** Finds a TCP port of the loopback interface that is free at this moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  return await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') {
        reject(new Error('The operating system assigned no port.'));
        return;
      }
      server.close(() => {
        resolve(address.port);
      });
    });
  });
}

/** Whether a TCP port of an interface is free at this moment. */
export async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
