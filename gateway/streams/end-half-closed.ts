import type { Http2SecureServer } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Server } from '@grpc/grpc-js';

/**
 * Ends each connection that the gateway has ended and the other side has not, some time later. gRPC ends one without a stream, and waits
 * for the other side for ever, so a CVM could fill the gateway's memory with such connections.
 * @param server that listens. gRPC has no other access to its connections than this
 */
export function endHalfClosed(server: Server, afterMilliseconds: number): void {
  const { http2Servers } = server as unknown as { http2Servers: Map<Http2SecureServer, unknown> };
  const endLater = (socket: TLSSocket) => {
    const timer = setTimeout(() => socket.destroy(), afterMilliseconds).unref();
    socket.once('close', () => clearTimeout(timer));
  };
  for (const http2Server of http2Servers.keys()) {
    http2Server.on('secureConnection', (socket: TLSSocket) => socket.once('finish', () => endLater(socket)));
  }
}
