import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import {
  createAuthority,
  issueCvmCertificate,
  issueServerCertificate,
  type Authority,
} from '../../gateway/certificates/authority.ts';
import type { Enrolment } from '../../local/cvms/cvm-gateway.ts';
import { ownPort } from './service-process.ts';
import { serveExecutions } from './simulated-step-functions.ts';
import { startStack, type Stack, type StackOptions } from '../../local/stack.ts';
import { anAlgorithm, callAs, readyComputation, type Call } from './ready-computation.ts';
import { testTimings } from './gateway-in-process.ts';
import { untilTestEnds } from './patience.ts';
import { repeating } from './repeating-call.ts';
import { SimulatedAgent, type AgentOptions } from './simulated-agent.ts';

export interface JournalEvent {
  event_type: string;
  status: string;
  run_id: string;
  details: string;
}

/** The certificate and the private key that a CVM shows. */
export interface EnrolledCvm extends Enrolment {
  cvmId: string;
  key: string;
}

/** The gateway of a test: in this process, or in one of its own that a test may kill. */
interface TestedGateway {
  enrol: NonNullable<Stack['cvmGateway']>['enrol'];
  /** The address of the gateway, such as `localhost:7001`. */
  address: string;
  /** The directory of the logs of runs; undefined for a gateway of its own, which prints them. */
  logs?: string;
  gateway?: NonNullable<Stack['cvmGateway']>['gateway'];
  /** Kills the process of the gateway. */
  kill: () => Promise<void>;
  /** Starts it again, if it was killed. */
  start: () => Promise<void>;
  /** Stops the process where it is, as on a machine without time for it. */
  freeze: () => void;
  thaw: () => void;
}

/** The service on one machine with a gateway for real agents, and simulated agents that speak their protocol. */
export interface GatewayStack {
  stack: Stack;
  gateway: TestedGateway;
  /** Signs the certificates for gateways in processes of their own. */
  authority: Authority;
  /** Starts a further gateway in a process of its own, if the first one is. It ends with the stack. */
  another: () => Promise<TestedGateway>;
  /** Calls the service as alice, administrator of d1, again while it is busy. */
  call: Call;
  /** Issues a certificate, and registers the CVM with it. */
  enrol: (cvmId: string, options?: { domain?: string; isRegistered?: boolean }) => Promise<EnrolledCvm>;
  /** Connects an agent. It ends with the test, because the gateway asks each agent for its state all the time. */
  connect: (cvm: EnrolledCvm, options?: Partial<AgentOptions>) => SimulatedAgent;
  /** Waits until a run can start on the CVM. */
  untilReady: (cvmId: string) => Promise<void>;
  /** Runs a new computation on the CVM. */
  startRun: (cvmId: string) => Promise<{ computationId: string; runId: string }>;
  /** Connects an agent as a new CVM and starts a run on it, up to the state in which the agent waits for uploads. */
  startRunOn: (cvmId: string, options?: Partial<AgentOptions>) => Promise<StartedRun>;
  stopRun: (computationId: string) => Promise<void>;
  untilRun: (computationId: string, status: string) => Promise<Record<string, unknown>>;
  /** The events of a computation, oldest first. */
  events: (computationId: string) => Promise<JournalEvent[]>;
  /** The same, each in short: see shortly. */
  journal: (computationId: string) => Promise<string[]>;
  stop: () => Promise<void>;
}

interface StartedRun {
  cvm: EnrolledCvm;
  agent: SimulatedAgent;
  computationId: string;
  runId: string;
}

/** Runs last for seconds, and each look at one takes a request. */
const untilOver = { ...untilTestEnds, interval: 200 };

/** @param ofItsOwn whether the gateway is a process of its own, and `real` if that one also has the timings of a stage */
export async function startGatewayStack(
  options: Partial<StackOptions> = {},
  { ofItsOwn = false }: { ofItsOwn?: boolean | 'real' } = {},
): Promise<GatewayStack> {
  const within = ofItsOwn !== false ? {} : { cvmGateway: { port: 0, timings: testTimings } };
  const stack = await startStack({ port: 0, simulator: false, intercept: serveExecutions, ...within, ...options });
  const authority = await createAuthority('test');
  const gateway = stack.cvmGateway
    ? { ...stack.cvmGateway, ...unkillable }
    : await gatewayProcess(authority, ofItsOwn === 'real');
  const others: TestedGateway[] = [];
  let algorithm: Promise<string> | undefined;
  const call = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator', 'd2:administrator'])));
  const world: GatewayStack = {
    stack,
    gateway,
    authority,
    another: async () => {
      const other = await gatewayProcess(authority, ofItsOwn === 'real');
      others.push(other);
      return other;
    },
    call,
    enrol: async (cvmId, { domain = 'd1', isRegistered = true } = {}) => {
      const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
      const enrolment = await gateway.enrol({ domain, cvmId, publicKey });
      if (isRegistered) {
        const { certificate } = enrolment;
        const { status } = await call('PUT', `/${domain}/cvms/${cvmId}`, { description: '', certificate });
        expect(status).toBeLessThan(300);
      }
      return { ...enrolment, cvmId, key: keys.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
    },
    connect: (cvm, more = {}) => {
      const agent = new SimulatedAgent({ reconnectInMilliseconds: 200, ...cvm, ...more });
      onTestFinished(() => agent.end());
      return agent;
    },
    untilReady: async (cvmId) => {
      await vi.waitFor(async () => {
        const { body } = await call('GET', `/d1/cvms/${cvmId}`);
        expect(body['presence']).toMatchObject({ state: 'connected', fit: 'ready' });
      }, untilTestEnds);
    },
    startRun: async (cvmId) => {
      const computationId = await readyComputation(call, 'd1', await (algorithm ??= anAlgorithm(call)));
      const { status, body } = await call('POST', `/d1/computations/${computationId}/run?cvm=${cvmId}`);
      expect(body).toEqual(expect.any(String));
      expect(status).toBe(200);
      return { computationId, runId: body as unknown as string };
    },
    startRunOn: async (cvmId, more) => {
      const cvm = await world.enrol(cvmId);
      const agent = world.connect(cvm, more);
      await world.untilReady(cvmId);
      const run = await world.startRun(cvmId);
      await expect.poll(() => agent.state).toBe('ReceivingAlgorithm');
      return { cvm, agent, ...run };
    },
    stopRun: async (computationId) => {
      expect((await call('POST', `/d1/computations/${computationId}/stop`)).status).toBe(200);
    },
    untilRun: async (computationId, status) => {
      return await vi.waitFor(async () => {
        const { body } = await call('GET', `/d1/computations/${computationId}/run`);
        expect(body, `The run is ${JSON.stringify(body)}.`).toMatchObject({ status });
        return body;
      }, untilOver);
    },
    events: async (computationId) => {
      const { body } = await call('GET', `/d1/computations/${computationId}/events?limit=100`);
      return (body['events'] as JournalEvent[]).reverse();
    },
    journal: async (computationId) => (await world.events(computationId)).map(shortly),
    stop: async () => {
      if (ofItsOwn !== false) await gateway.kill();
      for (const other of others) await other.kill();
      await stack.stop();
    },
  };
  return world;
}

/** An event of an agent in short, such as `Running/InProgress`, with a mark if it was inferred. */
export function shortly({ event_type, status, details }: JournalEvent): string {
  const { inferred } = JSON.parse(Buffer.from(details, 'base64').toString() || '{}') as { inferred?: boolean };
  return `${event_type}/${status}${inferred ? ' (inferred)' : ''}`;
}

const inThisProcess = () => {
  throw new Error('The gateway is in this process.');
};
const unkillable = {
  kill: () => Promise.reject(new Error('The gateway is in this process.')),
  start: () => Promise.reject(new Error('The gateway is in this process.')),
  freeze: inThisProcess,
  thaw: inThisProcess,
};

const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;

/** Starts a gateway in a process of its own, with the variables that the stack has set. */
async function gatewayProcess(authority: Authority, hasRealTimings: boolean): Promise<TestedGateway> {
  const { certificate, key } = await issueServerCertificate(authority, ['localhost', '127.0.0.1']);
  const port = await ownPort();
  let child: ChildProcess | undefined;
  const start = async () => {
    const started = spawn(process.execPath, [join(import.meta.dirname, 'run-gateway.ts'), ...(hasRealTimings ? ['real'] : [])], {
      env: {
        ...process.env,
        GATEWAY_PORT: String(port),
        GATEWAY_TLS: JSON.stringify({ ca: authority.certificate, certificate, key }),
      },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child = started;
    let output = '';
    started.stdout.on('data', (chunk) => (output += String(chunk)));
    const listening = vi.waitFor(() => expect(output).toContain('listening'), untilTestEnds);
    const ended = once(started, 'exit').then(() => Promise.reject(new Error('The gateway did not start.')));
    await Promise.race([listening, ended]);
  };
  await start();
  return {
    enrol: async ({ domain, cvmId, publicKey }) => ({
      certificate: await issueCvmCertificate(authority, { domain, cvmId }, publicKey),
      ca: authority.certificate,
      address: `localhost:${port}`,
    }),
    kill: async () => {
      if (!child || !isRunning(child)) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    start: async () => {
      if (!child || !isRunning(child)) await start();
    },
    freeze: () => child?.kill('SIGSTOP'),
    thaw: () => child?.kill('SIGCONT'),
    address: `localhost:${port}`,
  };
}
