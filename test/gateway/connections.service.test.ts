import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import {
  connect as connectHttp2,
  createSecureServer,
  type Http2SecureServer,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect, createServer, type AddressInfo, type NetConnectOpts, type Server, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { Client, connectivityState, credentials, status, type Server as GrpcServer } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultTimings, type GatewayTimings } from '../../gateway/session/gateway-parts.ts';
import { Connections } from '../../gateway/connections.ts';
import { cvmsService } from '../../gateway/wire/protocol.ts';
import { createAuthority, issueCvmCertificate, issueServerCertificate } from '../../gateway/certificates/authority.ts';
import { gatewayInProcess, testTimings } from '../support/gateway-in-process.ts';
import { shortly, startGatewayStack, type EnrolledCvm, type GatewayStack } from '../support/gateway-stack.ts';

const ping = 200;
const pingAnswer = 3_000;
const moreThanBuffersTake = 100 * 1024 * 1024;
let world: GatewayStack;
let cvm: EnrolledCvm;
beforeAll(async () => {
  world = await startGatewayStack({ cvmGateway: { port: 0, timings: { ...testTimings, ping, pingAnswer } } });
  cvm = await world.enrol('connected-1');
});
afterAll(() => world.stop());

/** A path to the gateway that may fall silent without an end, as one whose other end lost its power. */
class SilentPath {
  readonly server: Server;
  /** The times at which the gateway gave up each connection. */
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
    expect(defaultTimings).toMatchObject({ ping: 30_000, pingAnswer: 20_000 });
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

/** Milliseconds: short, and many times what a handshake takes on a busy machine. */
const withoutStream = 1_500;

/** A gateway with one impatience, and what a CVM that is not registered with it shows to it. */
async function impatientGateway(impatience: Partial<GatewayTimings>, cvmId = 'connected-1') {
  const authority = await createAuthority('impatient');
  const gateway = await gatewayInProcess(authority, { timings: impatience });
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const cert = await issueCvmCertificate(authority, { domain: 'd1', cvmId }, spki);
  return {
    gateway,
    tls: { ca: authority.certificate, key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), cert },
  };
}

/** A message of an agent as gRPC frames it. */
function framed(message: object): Buffer {
  const content = cvmsService()['Process']?.requestSerialize(message) ?? Buffer.alloc(0);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(content.length, 1);
  return Buffer.concat([head, content]);
}

/** The part of gRPC's server that has its connections. */
const grpcServerOf = (server: Http2SecureServer) => ({ http2Servers: new Map([[server, undefined]]) }) as unknown as GrpcServer;

const peerOf = ({ session }: ServerHttp2Stream) => `${session?.socket.remoteAddress}:${session?.socket.remotePort}`;

/** A server that listens, with its connections watched. */
async function serverWith(connections: Connections, afterMilliseconds: number) {
  const { certificate: cert, key } = await issueServerCertificate(world.authority, ['localhost']);
  const server = createSecureServer({ cert, key });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  connections.watch(grpcServerOf(server), afterMilliseconds);
  const { port } = server.address() as AddressInfo;
  return { server, port, ca: world.authority.certificate };
}

describe('a connection', () => {
  it('ends when its stream was refused, because an agent leaves it open and opens another one', async () => {
    const { gateway, tls } = await impatientGateway({ connectionWithoutStream: withoutStream });
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
    const { gateway, tls } = await impatientGateway({ connectionWithoutStream: withoutStream });
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
    const connections = new Connections();
    const { server, port, ca } = await serverWith(connections, withoutStream);
    server.on('stream', (stream: ServerHttp2Stream) => {
      connections.carry(peerOf(stream), stream);
      stream.on('error', () => undefined).write(Buffer.alloc(moreThanBuffersTake));
    });
    const session = once(server, 'session') as Promise<[ServerHttp2Session]>;
    const socket = once(server, 'secureConnection') as Promise<[TLSSocket]>;
    const path = new SilentPath(port);
    const settings = { initialWindowSize: moreThanBuffersTake };
    const client = connectHttp2(`https://localhost:${await path.listen()}`, { ca, settings });
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

  it('is cut without a certificate in time', async () => {
    const { gateway } = await impatientGateway({ connectionWithoutStream: withoutStream });
    const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
    const beginOfHandshake = Buffer.from([0x16, 0x03, 0x01, 0x3f, 0x00]);
    socket.write(beginOfHandshake);
    const speaking = setInterval(() => socket.write('\0'), 50);
    let isCut = false;
    socket.on('close', () => (isCut = true)).resume();
    await expect.poll(() => isCut).toBe(true);
    clearInterval(speaking);
    await gateway.stop();
  });

  it('takes the place of one without a stream when there are too many, and of none that has a stream', async () => {
    const connections = new Connections({ most: 2 });
    const { server, port, ca } = await serverWith(connections, 60_000);
    server.on('stream', (stream: ServerHttp2Stream) => {
      connections.carry(peerOf(stream), stream);
      stream.respond();
    });
    const agent = async () => {
      const client = connectHttp2(`https://localhost:${port}`, { ca }).on('error', () => undefined);
      await once(client.request({ ':path': '/' }, { endStream: false }), 'response');
      return client;
    };
    const first = await agent();
    const silent = connect(port, '127.0.0.1').on('error', () => undefined);
    await once(silent, 'connect');
    const silenced = once(silent.resume(), 'close');
    const second = await agent();
    await silenced;
    const third = connectHttp2(`https://localhost:${port}`, { ca });
    await expect(once(third, 'connect')).rejects.toThrow(/disconnected|ECONNRESET|EPIPE/);
    expect([first.destroyed, second.destroyed]).toEqual([false, false]);
    first.destroy();
    second.destroy();
    server.close();
  });

  it('ends after 100 streams, whatever they ask for', async () => {
    const { gateway, tls } = await impatientGateway({});
    const client = connectHttp2(`https://localhost:${gateway.port}`, tls).on('error', () => undefined);
    const closed = once(client, 'close');
    let answers = 0;
    const ask = () => {
      const request = client.request({ ':method': 'POST', ':path': '/unknown', 'content-type': 'application/grpc' });
      request.on('response', () => answers++).on('error', () => undefined);
      request.on('close', () => !client.closed && ask()).end();
      request.resume();
    };
    ask();
    await closed;
    expect(answers).toBe(100);
    await gateway.stop();
  });

  it('is cut when the certificate of its CVM is revoked after a run, also if that does not read, and what it still sends changes nothing', async () => {
    const cvmId = 'deaf-1';
    const { gateway, tls } = await impatientGateway({ connectionWithoutStream: withoutStream }, cvmId);
    const address = `localhost:${gateway.port}`;
    expect((await world.call('PUT', `/d1/cvms/${cvmId}`, { description: '', certificate: tls.cert })).status).toBe(201);
    const agent = world.connect({ cvmId, address, ca: tls.ca, certificate: tls.cert, key: tls.key });
    await world.untilReady(cvmId);
    const { computationId } = await world.startRun(cvmId);
    await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
    agent.end();

    const client = connectHttp2(`https://${address}`, { ...tls, settings: { initialWindowSize: 0 } });
    client.on('error', () => undefined);
    const stream = client.request(
      { ':method': 'POST', ':path': '/cvms.Service/Process', 'content-type': 'application/grpc', 'job-id': cvmId },
      { endStream: false },
    );
    stream.on('error', () => undefined);
    const asked = once(stream, 'response');
    const send = (event_type: string, status: string) => {
      const event = { event_type, status, computation_id: computationId, originator: 'agent', details: Buffer.alloc(0) };
      if (!stream.destroyed) stream.write(framed({ agent_event: event }));
    };
    const events = async () => (await world.events(computationId)).map(shortly);
    send('Running', 'Starting');
    await expect.poll(events).toContain('Running/Starting');
    await asked; // what the gateway asks, nobody reads
    const { streamsRefused } = gateway.counts;
    const revoke = async () => (await world.call('PUT', `/d1/cvms/${cvmId}`, { description: '', certificate: null })).status;
    expect(await revoke()).toBe(409);
    await world.call('POST', `/d1/computations/${computationId}/stop`);
    await world.untilRun(computationId, 'cancelled');
    expect(await revoke()).toBe(200);
    await expect.poll(() => gateway.counts.streamsRefused).toBe(streamsRefused + 1);
    send('Running', 'InProgress');
    await expect.poll(() => client.destroyed).toBe(true);
    await gateway.stop();
    expect(await events()).not.toContain('Running/InProgress');
    expect(gateway.counts.streamsRefused).toBe(streamsRefused + 1);
  });
});
