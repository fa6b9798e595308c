import type { Http2SecureServer, ServerHttp2Session } from 'node:http2';
import { Server as NetServer, type Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { Server } from '@grpc/grpc-js';
import { log } from '../shared/runtime/log.ts';

/** The largest number of open connections of a gateway. 4,000 CVMs have two connections each. */
const mostConnections = 10_000;

/** The largest number of streams that one connection opens in its life. An agent opens one stream per connection. */
const mostStreams = 100;

const minute = 60_000;

interface Connection {
  socket: Socket;
  streams: Set<Writable>;
  wasIdle: boolean;
}

/**
 * Keeps the open connections of the gateway. Cuts each connection that has no stream for some time: gRPC ends such a connection
 * only after the handshake, and then waits for the other side.
 */
export class Connections {
  private readonly most: number;
  private readonly open = new Map<string, Connection>();
  private warnedAt = -Infinity;

  constructor({ most = mostConnections } = {}) {
    this.most = most;
  }

  /**
   * Watches the connections that a server accepts.
   * @param server a server that listens
   * @param afterMilliseconds the shortest time without a stream after which a connection is cut. The longest is twice that
   */
  watch(server: Server, afterMilliseconds: number): void {
    const looking = setInterval(() => this.look(), afterMilliseconds).unref();
    for (const http2Server of listenersOf(server)) {
      http2Server.on('connection', (socket: Socket) => this.accept(socket));
      http2Server.on('session', limitStreams);
      http2Server.once('close', () => clearInterval(looking));
    }
  }

  /**
   * Notes that a connection carries a stream, until either side ends the stream.
   * @param peer the address and port of the other side
   */
  carry(peer: string, stream: Writable): void {
    const streams = this.open.get(peer)?.streams;
    streams?.add(stream);
    stream.once('close', () => streams?.delete(stream));
  }

  private accept(socket: Socket): void {
    const { remoteAddress, remotePort } = socket;
    const peer = `${remoteAddress}:${remotePort}`;
    const isFull = this.open.size >= this.most && !this.cutOldestIdle();
    if (isFull || remoteAddress === undefined || this.open.has(peer)) {
      socket.destroy();
      return;
    }
    const connection = { socket, streams: new Set<Writable>(), wasIdle: false };
    this.open.set(peer, connection);
    socket.once('close', () => {
      if (this.open.get(peer) === connection) this.open.delete(peer);
    });
  }

  /**
   * Cuts the oldest connection without a stream, so that a new one fits. A CVM needs only a moment to open its stream, and a
   * stranger never gets one.
   * @returns false if every connection has a stream
   */
  private cutOldestIdle(): boolean {
    const now = performance.now();
    if (now - this.warnedAt >= minute) {
      log('WARN', 'The gateway has as many connections as it takes.', { most: this.most });
      this.warnedAt = now;
    }
    for (const [peer, connection] of this.open) {
      if (!isIdle(connection)) continue;
      this.open.delete(peer);
      connection.socket.destroy();
      return true;
    }
    return false;
  }

  private look(): void {
    for (const connection of this.open.values()) {
      const isIdleNow = isIdle(connection);
      if (isIdleNow && connection.wasIdle) connection.socket.destroy();
      connection.wasIdle = isIdleNow;
    }
  }
}

/** Returns what listens at the ports of a gRPC server. */
const listenersOf = (server: Server): Iterable<Http2SecureServer> =>
  (server as unknown as { http2Servers: Map<Http2SecureServer, unknown> }).http2Servers.keys();

/** Closes the ports of a server, and no connection. Connections whose port gRPC closes live for 30 seconds at most. */
export function stopListening(server: Server): void {
  for (const listener of listenersOf(server)) NetServer.prototype.close.call(listener);
}

const isIdle = ({ streams }: Connection): boolean => [...streams].every((stream) => stream.writableEnded);

/**
 * Cuts a connection that opens too many streams. A refused stream costs as much as any other. A new connection costs its other
 * side a handshake too.
 */
function limitStreams(session: ServerHttp2Session): void {
  let streams = 0;
  session.on('stream', () => {
    if (++streams > mostStreams) session.destroy();
  });
}
