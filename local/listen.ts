import type { Server } from 'node:http';

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
