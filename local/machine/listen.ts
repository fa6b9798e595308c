import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

export interface Listening {
  endpoint: string;
  port: number;
  /** Makes the server also answer requests that name a proxy in front of it as their host. @param proxy the URL of the proxy */
  answerFor: (proxy: string) => void;
  /** Stops the server: refuses new connections, closes idle ones, and gives requests in progress two seconds. */
  stop: () => Promise<void>;
}

/**
 * Makes a server listen on the loopback interface. The server refuses requests with another host than a name of this machine,
 * because a foreign page may point its own name here (DNS rebinding). No page of another origin can show or run what the server
 * serves.
 * @throws Error with code EADDRINUSE if the port is taken
 */
export async function listen(server: Server, port: number): Promise<Listening> {
  const handlers = server.listeners('request') as RequestListener[];
  let proxyHost: string | undefined;
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    response.setHeader('cross-origin-resource-policy', 'same-origin');
    // defence
    if (ownOrigin(request) !== undefined || request.headers.host === proxyHost)
      for (const handle of handlers) handle(request, response);
    else
      response
        .writeHead(421, { 'content-type': 'text/plain', connection: 'close' })
        .end('Expected the host localhost, with the port.\n');
  });
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
    answerFor: (proxy) => {
      proxyHost = new URL(proxy).host;
    },
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

/**
 * Returns the origin under which a request reached the service. Undefined if the request's host is not a name of this machine
 * with the port of the connection, or its target names another host.
 */
export function ownOrigin({ url = '', headers: { host = '' }, socket }: IncomingMessage): string | undefined {
  const [, port = '80'] = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::(\d+))?$/i.exec(host) ?? ['', ''];
  const isPath = url.startsWith('/') || url === '*';
  return isPath && port === String(socket.localPort) ? `http://${host.toLowerCase()}` : undefined;
}

/** Says whether a browser sent a request for a page of another origin. */
export function isOfOtherPage(request: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': site = 'none' } = request.headers;
  return (origin !== undefined && origin !== ownOrigin(request)) || (site !== 'none' && site !== 'same-origin');
}

/**
 * The lowest TCP port that a part of the service chooses. The range is below the ports that Linux and macOS give to outgoing
 * connections and to servers without a port of their own.
 */
const lowest = 15_000;
const highest = 32_000;

/**
 * Finds a TCP port of the loopback interface that is free at this moment. No other process gets the port unless it asks for this
 * very port.
 * @throws Error if no port seems free
 */
export async function freePort(): Promise<number> {
  return await firstFree(Array.from({ length: 100 }, () => randomInt(lowest, highest)));
}

/** The TCP ports that browsers do not connect to: the ports that the Fetch standard blocks, as far as Chromium does. */
export const blockedByBrowsers = [
  1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080,
];

/**
 * Finds a free TCP port of the loopback interface that no web page can reach, because browsers block it. @throws Error if none is
 * free
 */
export async function portWithoutPages(): Promise<number> {
  const start = randomInt(blockedByBrowsers.length);
  return await firstFree([...blockedByBrowsers.slice(start), ...blockedByBrowsers.slice(0, start)]);
}

async function firstFree(ports: number[]): Promise<number> {
  for (const port of ports) if (await isFree(port, '127.0.0.1')) return port;
  throw new Error(`None of these TCP ports of 127.0.0.1 is free: ${ports.join(', ')}.`);
}

/** Says whether a TCP port of a network interface is free at this moment. @param host the address of the interface */
export async function isFree(port: number, host: string): Promise<boolean> {
  const server = createServer();
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
