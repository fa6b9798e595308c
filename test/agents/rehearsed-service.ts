import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensure } from '../../tools/demo/ensure.ts';
import { freePort } from '../../local/machine/listen.ts';
import { type Call } from '../support/ready-computation.ts';
import { startService, type ServiceProcess } from '../support/service-process.ts';
import { until } from './until.ts';

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
    this.process = await startService(['--data', this.directory], ':', {
      environment: { GATEWAY_PORT: String(this.gatewayPort) },
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
