import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  type Authority,
  createAuthority,
  issueCvmCertificate,
  issueServerCertificate,
} from '../../gateway/certificates/authority.ts';
import { freePort } from '../../local/machine/listen.ts';
import { type Stack, startStack } from '../../local/stack.ts';
import { ok as ensure } from 'node:assert';
import { type Call, callAs } from '../support/ready-computation.ts';
import { type ServiceProcess, startService } from '../support/service-process.ts';
import { serveExecutions } from '../support/simulated-step-functions.ts';

/** Waits until something is so. @throws Error with `what` if it is not so in time */
async function until(what: string, isSo: () => Promise<boolean>, seconds = 60): Promise<void> {
  const deadline = performance.now() + seconds * 1_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${seconds} seconds.`);
    await delay(100);
  }
}

export interface Journaled {
  event_type: string;
  status: string;
  details: string;
  originator: string;
}

const cvmCommand = join(import.meta.dirname, '../../tools/commands/cvm.ts');

/** The service of `npm start -- --data DIR` in a process of its own, with its gateway on a port that stays. */
export class RehearsedService {
  readonly gatewayPort: number;
  private readonly directory: string;
  private process: ServiceProcess | undefined;

  protected constructor(directory: string, gatewayPort: number) {
    this.directory = directory;
    this.gatewayPort = gatewayPort;
  }

  static async start(directory: string): Promise<RehearsedService> {
    const service = new RehearsedService(directory, await freePort());
    await service.start();
    return service;
  }

  async start(): Promise<void> {
    this.process = await startService(['--data', this.directory, '--test-evidence'], ':', {
      environment: { GATEWAY_PORT: String(this.gatewayPort) },
      simulator: true, // which test evidence demands
    });
    ensure(!this.process.hasEnded(), `The service did not start: ${this.process.output()}`);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    await this.process?.end(signal);
  }

  get call(): Call {
    ensure(this.process !== undefined, 'The service does not run.');
    return this.process.call;
  }

  /** The variables with which `cms` finds the service and its user. */
  get environment(): Record<string, string> {
    ensure(this.process !== undefined, 'The service does not run.');
    return { CMS_SERVER: this.process.baseUrl, CMS_DOMAIN: 'd1', CMS_TOKEN: this.process.token };
  }

  /** Calls the service. @throws Error with the answer if it is no success */
  async ask(...request: Parameters<Call>): Promise<Record<string, unknown>> {
    const { status, body } = await this.call(...request);
    ensure(status < 300, `${request[0]} ${request[1]} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Enrols a CVM by `npm run cvm`. @returns what it printed for /etc/cocos/environment, with the paths of this machine */
  async enrol(cvmId: string, directory: string): Promise<Record<string, string>> {
    const { port } = new URL(this.process?.baseUrl ?? '');
    const args = [cvmCommand, 'enrol', '--domain', 'd1', '--cvm', cvmId, '--out', directory];
    const { stdout } = await promisify(execFile)(process.execPath, args, { env: { ...process.env, PORT: port } });
    const lines = [...stdout.matchAll(/^([A-Z_]+)=(.*)$/gm)];
    return Object.fromEntries(lines.map(([, name = '', value = '']) => [name, value.replace('/etc/cocos/certs', directory)]));
  }

  async untilFit(cvmId: string): Promise<void> {
    await this.untilPresence(cvmId, { state: 'connected', fit: 'ready' });
  }

  async untilPresence(cvmId: string, expected: Record<string, string>, seconds?: number): Promise<void> {
    const isSo = async () => {
      const { presence = {} } = (await this.call('GET', `/d1/cvms/${cvmId}`)).body as { presence?: Record<string, unknown> };
      return Object.entries(expected).every(([field, value]) => presence[field] === value);
    };
    await until(`The CVM ${cvmId} is ${Object.values(expected).join(' and ')}`, isSo, seconds);
  }

  /** Waits until the attestation of a CVM is as expected. @returns the names of the checks that failed */
  async untilAttestation(cvmId: string, expected: Record<string, string>): Promise<string> {
    let failed = '';
    const isSo = async () => {
      const { attestation } = (await this.call('GET', `/d1/cvms/${cvmId}`)).body as {
        attestation: (Record<string, unknown> & { checks: { name: string; passed: boolean }[] }) | null;
      };
      failed = (attestation?.checks ?? []).flatMap(({ name, passed }) => (passed ? [] : name)).join();
      return Object.entries(expected).every(([field, value]) => attestation?.[field] === value);
    };
    await until(`The attestation of ${cvmId} is ${Object.values(expected).join(' and ')}`, isSo);
    return failed;
  }

  async run(computationId: string): Promise<{ status: string; reason: string | null }> {
    return (await this.ask('GET', `/d1/computations/${computationId}/run`)) as { status: string; reason: string | null };
  }

  /** Waits for the end of a run. @returns its status and reason */
  async untilOver(computationId: string, seconds = 60): Promise<{ status: string; reason: string | null }> {
    await until('The run is over', async () => !isActive((await this.run(computationId)).status), seconds);
    return await this.run(computationId);
  }

  /** The events of a computation, oldest first. */
  async events(computationId: string): Promise<Journaled[]> {
    const { events } = await this.ask('GET', `/d1/computations/${computationId}/events?limit=100`);
    return (events as Journaled[]).reverse();
  }

  /** Waits for an event of the agent, such as `Running/InProgress`. */
  async untilEvent(computationId: string, event: string, seconds = 60): Promise<void> {
    await until(
      `The event ${event}`,
      async () => {
        const events = await this.events(computationId);
        return events.some(({ event_type, status }) => `${event_type}/${status}` === event);
      },
      seconds,
    );
  }
}

function isActive(status: string): boolean {
  return status === 'running' || status === 'stopping';
}

const program = join(import.meta.dirname, '../../gateway/main.ts');

/** The service in this process, of which there is one, and its gateway in a process of its own, as on AWS. */
export class ServiceWithOwnGateway extends RehearsedService {
  private readonly stack: Stack;
  private readonly authority: Authority;
  private readonly token: string;
  private gateway: ChildProcess | undefined;

  private constructor(directory: string, gatewayPort: number, parts: { stack: Stack; authority: Authority; token: string }) {
    super(directory, gatewayPort);
    this.stack = parts.stack;
    this.authority = parts.authority;
    this.token = parts.token;
  }

  static override async start(directory: string): Promise<ServiceWithOwnGateway> {
    const stack = await startStack({ port: 0, simulator: false, dataDirectory: directory, intercept: serveExecutions });
    const token = await stack.token('alice', ['d1:administrator']);
    const parts = { stack, authority: await createAuthority('rehearsal'), token };
    const service = new ServiceWithOwnGateway(directory, await freePort(), parts);
    await service.startGateway();
    return service;
  }

  override get call(): Call {
    return callAs(this.stack.baseUrl, this.token);
  }

  override get environment(): Record<string, string> {
    return { CMS_SERVER: this.stack.baseUrl, CMS_DOMAIN: 'd1', CMS_TOKEN: this.token };
  }

  async startGateway(): Promise<void> {
    const server = await issueServerCertificate(this.authority, ['localhost']);
    const tls = JSON.stringify({ ca: this.authority.certificate, ...server });
    const gateway = spawn(process.execPath, [program], {
      env: {
        ...process.env,
        LOG_LEVEL: 'INFO',
        GATEWAY_PORT: String(this.gatewayPort),
        GATEWAY_HEALTH_PORT: String(await freePort()),
        GATEWAY_TLS: tls,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.gateway = gateway;
    await new Promise<void>((resolve, reject) => {
      gateway.once('exit', () => reject(new Error('The gateway did not start.')));
      gateway.stdout.on('data', (chunk) => {
        if (String(chunk).includes('The gateway listens')) resolve();
      });
    });
  }

  async killGateway(): Promise<void> {
    if (!this.gateway || this.gateway.exitCode !== null || this.gateway.signalCode !== null) return;
    const ended = once(this.gateway, 'exit');
    this.gateway.kill('SIGKILL');
    await ended;
  }

  override async end(): Promise<void> {
    await this.killGateway();
    await this.stack.stop();
  }

  /** Enrols a CVM with this gateway's authority. */
  override async enrol(cvmId: string, directory: string): Promise<Record<string, string>> {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicKey = keys.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const certificate = await issueCvmCertificate(this.authority, { domain: 'd1', cvmId }, publicKey);
    await this.ask('PUT', `/d1/cvms/${cvmId}`, { description: '', certificate });
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'key.pem'), keys.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 });
    writeFileSync(join(directory, 'cert.pem'), certificate);
    writeFileSync(join(directory, 'ca.pem'), this.authority.certificate);
    return {
      AGENT_CVM_GRPC_URL: `localhost:${this.gatewayPort}`,
      AGENT_CVM_ID: cvmId,
      AGENT_CVM_GRPC_CLIENT_CERT: join(directory, 'cert.pem'),
      AGENT_CVM_GRPC_CLIENT_KEY: join(directory, 'key.pem'),
      AGENT_CVM_GRPC_SERVER_CA_CERTS: join(directory, 'ca.pem'),
    };
  }
}
