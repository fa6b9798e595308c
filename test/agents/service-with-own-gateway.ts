import { spawn, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAuthority,
  issueCvmCertificate,
  issueServerCertificate,
  type Authority,
} from '../../gateway/certificates/authority.ts';
import { freePort } from '../../local/machine/listen.ts';
import { startStack, type Stack } from '../../local/stack.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { RehearsedService } from './rehearsed-service.ts';

const program = join(import.meta.dirname, '../../gateway/main.ts');

/** The service in this process, of which there is one, and its gateway in a process of its own, as on AWS. */
export class ServiceWithOwnGateway extends RehearsedService {
  private readonly stack: Stack;
  private readonly authority: Authority;
  private readonly callAsAlice: Call;
  private gateway: ChildProcess | undefined;

  private constructor(directory: string, gatewayPort: number, parts: { stack: Stack; authority: Authority; call: Call }) {
    super(directory, gatewayPort);
    this.stack = parts.stack;
    this.authority = parts.authority;
    this.callAsAlice = parts.call;
  }

  static override async start(directory: string): Promise<ServiceWithOwnGateway> {
    const stack = await startStack({ port: 0, simulator: false, dataDirectory: directory });
    const call = callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator']));
    const parts = { stack, authority: await createAuthority('rehearsal'), call };
    const service = new ServiceWithOwnGateway(directory, await freePort(), parts);
    await service.startGateway();
    return service;
  }

  override get call(): Call {
    return this.callAsAlice;
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
