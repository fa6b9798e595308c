import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { AgentCvm, type CvmOptions, type Program } from './agent-cvm.ts';
import { RehearsedParty } from './rehearsed-party.ts';
import { RehearsedRun, type RunInputs } from './rehearsed-run.ts';
import type { RehearsedService } from './rehearsed-service.ts';

type MoreOfCvm = Pick<CvmOptions, 'alsoReaches' | 'evidence'>;

/** The world of a case: the service, and CVMs and computations of its own. */
export class RehearsalWorld {
  readonly service: RehearsedService;
  /** The program of Python that has the packages of test/prerequisites.json. */
  readonly python: string;
  private readonly name: string;
  private readonly directory: string;
  private readonly program: (name: Program) => string;
  private readonly cvms: AgentCvm[] = [];
  private runs = 0;

  constructor(
    service: RehearsedService,
    place: { name: string; directory: string; program: (name: Program) => string; python: string },
  ) {
    this.service = service;
    this.python = place.python;
    this.name = place.name;
    this.directory = join(place.directory, place.name);
    this.program = place.program;
    mkdirSync(this.directory, { recursive: true });
  }

  /** Enrols a CVM, starts it, and waits until it can take a run. @param more environment variables of its programs */
  async cvm(number = 1, more: Record<string, string> = {}, options: MoreOfCvm = {}): Promise<{ id: string; cvm: AgentCvm }> {
    const id = `${this.name}-${number}`;
    const directory = join(this.directory, `cvm-${number}`);
    const environment = await this.service.enrol(id, join(directory, 'certs'));
    const cvm = await this.start(directory, { ...environment, ...more }, options);
    await this.service.ask('PUT', `/d1/cvms/${id}`, { description: '', agent_url: cvm.address });
    await this.service.untilFit(id);
    return { id, cvm };
  }

  /** Starts another machine with the key and the certificate of a CVM. */
  async copyOf(number: number): Promise<AgentCvm> {
    const original = join(this.directory, `cvm-${number}`);
    const { environment } = this.cvms[number - 1] ?? { environment: {} };
    return await this.start(`${original}-copy`, environment);
  }

  private async start(directory: string, environment: Record<string, string>, options: MoreOfCvm = {}): Promise<AgentCvm> {
    const { gatewayPort } = this.service;
    const cvm = await AgentCvm.start({ directory, environment, gatewayPort, ...options, program: this.program });
    this.cvms.push(cvm);
    return cvm;
  }

  async computation(inputs?: RunInputs): Promise<RehearsedRun> {
    const directory = join(this.directory, `run-${++this.runs}`);
    return await RehearsedRun.prepare(this.service, directory, inputs);
  }

  /** Lets a user log in with `cms`. */
  async party(user: string, role: string): Promise<RehearsedParty> {
    return await RehearsedParty.join(this.service, this.folder(user), { user, role });
  }

  /** Creates a directory for files of the case. */
  folder(name: string): string {
    const directory = join(this.directory, name);
    mkdirSync(directory, { recursive: true });
    return directory;
  }

  async stop(): Promise<void> {
    for (const cvm of this.cvms) await cvm.stop();
  }
}
