import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IssuerOptions, TokenSet } from '../tokens/issuer.ts';
import { beginSignIn, completeSignIn } from '../tokens/sign-in.ts';

export interface LoopbackSignInOptions extends IssuerOptions {
  /** Opens the issuer's sign-in page in a browser, or shows its address to the user. */
  open: (url: string) => void | Promise<void>;
  /**
   * The port of this machine to which the browser comes back, if the issuer allows only a certain one. Default: any free port.
   */
  port?: number | undefined;
  /** The path to which the browser comes back after the sign-in. Default `/callback`. */
  path?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Signs a user in with the browser of this machine: by the authorization code flow with PKCE, and a listener on the loopback
 * interface (RFC 8252).
 * @throws ServiceProblem if the issuer refuses; Error `EADDRINUSE` if the port is taken; the signal's reason
 */
export async function loopbackSignIn(given: LoopbackSignInOptions): Promise<TokenSet> {
  const { open, port = 0, path = '/callback', signal } = given;
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', resolve);
    });
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
    const pending = await beginSignIn({ ...given, redirectUri }, signal);
    const answer = answerAt(redirectUri, server, { state: pending.state, signal });
    // `open` may wait for the browser, and its failure ends the sign-in.
    const opened = Promise.resolve(open(pending.url)).then(() => answer);
    const { url, reply } = await Promise.race([answer, opened]);
    try {
      const tokens = await completeSignIn({ ...given, redirectUri }, pending, url, signal);
      await reply('You are signed in. You can close this page.');
      return tokens;
    } catch (error) {
      await reply('The sign-in failed. The terminal says why.');
      throw error;
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

/**
 * Waits for the request by which the browser comes back, and returns its address and a function that answers it. Other requests, also those
 * of a browser that only looks ahead, are answered with 404: any program and web page of this machine may send requests without the state of this sign-in.
 */
function answerAt(
  redirectUri: string,
  server: ReturnType<typeof createServer>,
  { state, signal }: { state: string; signal: AbortSignal | undefined },
): Promise<{ url: URL; reply: (text: string) => Promise<void> }> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal?.reason as Error);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
    server.on('request', (request, response) => {
      const { url: path = '', method, headers } = request;
      const url = URL.canParse(path, redirectUri) ? new URL(path, redirectUri) : undefined;
      const isAnswer = url?.pathname === new URL(redirectUri).pathname && url.searchParams.get('state') === state;
      const isVisit = method === 'GET' && !/prefetch/i.test(`${String(headers['sec-purpose'])} ${String(headers['purpose'])}`);
      if (!isVisit || !isAnswer || !(url.searchParams.has('code') || url.searchParams.has('error'))) {
        response.writeHead(404).end(); // such as the browser's favicon
        return;
      }
      const reply = (text: string) =>
        new Promise<void>((done) => {
          response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(text, () => done());
          response.once('close', done);
        });
      resolve({ url, reply });
    });
  });
}
