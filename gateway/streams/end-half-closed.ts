import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Server } from '@grpc/grpc-js';

/**
 * Cuts each connection whose session has ended, and that is still open some time later. A session ends a connection only when the other
 * side has read what was sent before, and then waits for the other side to end it too. So a CVM that does neither could fill the
 * gateway's memory with such connections.
 * @param server that listens. gRPC has no other access to its connections than this
 * @param afterMilliseconds the least time that the other side has. The most is twice as long
 */
export function endHalfClosed(server: Server, afterMilliseconds: number): void {
  const { http2Servers } = server as unknown as { http2Servers: Map<Http2SecureServer, unknown> };
  for (const http2Server of http2Servers.keys()) endHalfClosedOf(http2Server, afterMilliseconds);
}

function endHalfClosedOf(server: Http2SecureServer, afterMilliseconds: number): void {
  const sessions = new Map<TLSSocket, ServerHttp2Session>();
  let begun: ServerHttp2Session | undefined;
  server.on('session', (session) => (begun = session));
  // Node's own listener came first, and has begun the session of this connection, which does not give access to its socket.
  server.on('secureConnection', (socket: TLSSocket) => {
    if (!begun) return;
    sessions.set(socket, begun);
    begun = undefined;
    socket.once('close', () => sessions.delete(socket));
  });
  let ended: TLSSocket[] = [];
  const looking = setInterval(() => {
    for (const socket of ended) socket.destroy();
    ended = [...sessions].flatMap(([socket, session]) => (session.destroyed ? [socket] : []));
  }, afterMilliseconds);
  looking.unref();
  server.once('close', () => clearInterval(looking));
}
