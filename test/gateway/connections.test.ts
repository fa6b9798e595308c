import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2, createSecureServer, type ServerHttp2Session } from 'node:http2';
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { Client, connectivityState, credentials, status, type Server as GrpcServer } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usualPace, type Pace } from '../../gateway/pace.ts';
import { endHalfClosed } from '../../gateway/streams/end-half-closed.ts';
import { createAuthority, issueCvmCertificate, issueServerCertificate } from '../../infra/certificates/authority.ts';
import { testPace } from '../support/gateway-pace.ts';
import { gatewayInProcess } from '../support/gateway-in-process.ts';
import { startGatewayStack, type EnrolledCvm, type GatewayStack } from '../support/gateway-stack.ts';

const ping = 200;
const pingAnswer = 3_000;
const moreThanBuffersTake = 100 * 1024 * 1024;
let world: GatewayStack;
let cvm: EnrolledCvm;
beforeAll(async () => {
  world = await startGatewayStack({ cvmGateway: { port: 0, pace: { ...testPace, ping, pingAnswer } } });
  cvm = await world.enrol('connected-1');
});
afterAll(() => world.stop());

/** A path to the gateway that may fall silent without an end, as one whose other end lost its power. */
class SilentPath {
  readonly server: Server;
  /** When the gateway gave up each connection. */
  readonly givenUp: number[] = [];
  private readonly sockets: [Socket, Socket][] = [];

  constructor(gatewayPort: number) {
    this.server = createServer((near) => {
      const far = connect(gatewayPort, '127.0.0.1');
      this.sockets.push([near, far]);
      near.on('error', () => undefined).pipe(far);
      far.on('error', () => undefined).pipe(near);
      far.on('close', () => this.givenUp.push(performance.now()));
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as AddressInfo).port;
  }

  /** Passes nothing on any more, not even that a side has ended. */
  fallSilent(): void {
    for (const [near, far] of this.sockets) {
      near.unpipe(far);
      far.unpipe(near).resume();
    }
  }

  /** Leaves what the gateway sends from now on where it is. */
  stopReading(): void {
    for (const [near, far] of this.sockets) far.unpipe(near).pause();
  }

  close(): void {
    for (const sockets of this.sockets) for (const socket of sockets) socket.destroy();
    this.server.close();
  }
}

describe('a gateway', () => {
  it('sends PING every 30 seconds, and waits 20 seconds for the answer', () => {
    expect(usualPace).toMatchObject({ ping: 30_000, pingAnswer: 20_000 });
  });

  it('sends PING again and again, and keeps the connection of a peer that answers', async () => {
    const { ca, certificate: cert, key } = cvm;
    const session = connectHttp2(`https://${cvm.address}`, { ca, cert, key });
    const pings: number[] = [];
    session.on('ping', () => pings.push(performance.now())); // answered by Node
    await expect.poll(() => pings.length).toBeGreaterThanOrEqual(4);
    const [first = 0, , , fourth = 0] = pings;
    expect(fourth - first).toBeGreaterThan(2.5 * ping);
    expect(session.destroyed).toBe(false);
    session.close();
  });

  it('gives up the connections of a CVM whose path fell silent', async () => {
    const { gateway } = world.gateway;
    const path = new SilentPath(gateway?.port ?? 0);
    const port = await path.listen();
    world.connect(cvm, { address: `localhost:${port}`, reconnectInMilliseconds: 60_000 });
    await world.untilReady('connected-1');
    expect(gateway?.gauges().cvms).toBe(1);
    path.fallSilent();
    const silentAt = performance.now();
    const givenUp = () => path.givenUp.filter((at) => at > silentAt).length;
    await expect.poll(givenUp).toBe(2); // the agent's and the log-forwarder's
    await expect.poll(() => gateway?.gauges().cvms).toBe(0);
    path.close();
  });
});

/** A gateway with one impatience, and what a CVM that is not registered with it shows to it. */
async function impatientGateway(impatience: Partial<Pace>) {
  const authority = await createAuthority('impatient');
  const gateway = await gatewayInProcess(authority, { pace: impatience });
  const publicKey = new X509Certificate(cvm.certificate).publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const cert = await issueCvmCertificate(authority, { domain: 'd1', cvmId: 'connected-1' }, publicKey);
  return { gateway, tls: { ca: authority.certificate, key: cvm.key, cert } };
}

describe('a connection', () => {
  it('ends when its stream was refused, because an agent leaves it open and opens another one', async () => {
    const { gateway, tls } = await impatientGateway({ connectionWithoutStream: 300 });
    const channel = credentials.createSsl(Buffer.from(tls.ca), Buffer.from(tls.key), Buffer.from(tls.cert));
    const address = `localhost:${gateway.port}`;
    const client = new Client(address, channel, { 'grpc.use_local_subchannel_pool': 1 });
    const path = '/cvms.Service/Process';
    const stream = client.makeBidiStreamRequest<Buffer, Buffer>(
      path,
      (bytes) => bytes,
      (bytes) => bytes,
    );
    const refused = new Promise<Error>((resolve) => stream.on('error', resolve));
    expect(await refused).toMatchObject({ code: status.PERMISSION_DENIED });
    const { IDLE, READY } = connectivityState;
    const state = () => client.getChannel().getConnectivityState(false);
    expect([IDLE, READY]).toContain(state());
    await expect.poll(state).toBe(IDLE);
    client.close();
    await gateway.stop();
  });

  it('is cut when the gateway has ended it and the CVM does not', async () => {
    const { gateway, tls } = await impatientGateway({ connectionWithoutStream: 300, halfClosed: 300 });
    const connecting: ConnectionOptions & NetConnectOpts = {
      ...tls,
      host: 'localhost',
      port: gateway.port,
      ALPNProtocols: ['h2'],
      allowHalfOpen: true,
    };
    const socket = connectTls(connecting, () => {
      const settings = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);
      socket.write(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), settings]));
    });
    const errors: Error[] = [];
    socket.on('error', (error: Error) => errors.push(error)).resume();
    await once(socket, 'end');
    // As long as the gateway keeps its side, it takes what is sent.
    const isCut = () => {
      if (!socket.destroyed) socket.write('x');
      return errors.length > 0;
    };
    await expect.poll(isCut).toBe(true);
    await gateway.stop();
  });

  it('is cut when its session has ended and the other side does not read what was sent before', async () => {
    const { certificate: cert, key } = await issueServerCertificate(world.authority, ['localhost']);
    const server = createSecureServer({ cert, key });
    server.on('stream', (stream) => stream.on('error', () => undefined).write(Buffer.alloc(moreThanBuffersTake)));
    const session = once(server, 'session') as Promise<[ServerHttp2Session]>;
    const socket = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    endHalfClosed({ http2Servers: new Map([[server, undefined]]) } as unknown as GrpcServer, 300);
    const path = new SilentPath((server.address() as AddressInfo).port);
    const settings = { initialWindowSize: moreThanBuffersTake };
    const client = connectHttp2(`https://localhost:${await path.listen()}`, { ca: world.authority.certificate, settings });
    client.on('error', () => undefined).on('connect', () => client.setLocalWindowSize(moreThanBuffersTake));
    await once(client, 'remoteSettings');
    const [[serverSession], [serverSocket]] = await Promise.all([session, socket]);
    path.stopReading();
    client.request({ ':path': '/' }).on('error', () => undefined);
    await expect.poll(() => serverSocket.bytesWritten).toBeGreaterThanOrEqual(moreThanBuffersTake);
    serverSession.destroy();
    await expect.poll(() => serverSocket.destroyed).toBe(true);
    client.destroy();
    path.close();
    server.close();
  });
});
