import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { usualPace } from '../../gateway/pace.ts';
import { testPace } from '../support/gateway-pace.ts';
import { startGatewayStack, type EnrolledCvm, type GatewayStack } from '../support/gateway-stack.ts';

const ping = 200;
const pingAnswer = 1_000;
let world: GatewayStack;
let cvm: EnrolledCvm;
beforeAll(async () => {
  world = await startGatewayStack({ cvmGateway: { port: 0, pace: { ...testPace, ping, pingAnswer } } });
  cvm = await world.enrol('pings-1');
});
afterAll(() => world.stop());

/** A path to the gateway that may fall silent without an end, as one whose other end lost its power. */
class SilentPath {
  readonly server: Server;
  /** When the gateway gave up which connection. */
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
    await expect.poll(() => pings.length, { timeout: 10_000, interval: 20 }).toBeGreaterThanOrEqual(4);
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
    await world.untilReady('pings-1');
    expect(gateway?.gauges().cvms).toBe(1);
    path.fallSilent();
    const silentAt = performance.now();
    await expect.poll(() => path.givenUp.length, { timeout: 10_000, interval: 20 }).toBe(2); // the agent's and the log-forwarder's
    expect(Math.min(...path.givenUp) - silentAt).toBeGreaterThan(pingAnswer - ping);
    await expect.poll(() => gateway?.gauges().cvms).toBe(0);
    path.close();
  });
});
