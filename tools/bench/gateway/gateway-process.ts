import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleGateway } from '../../../infra/bundles/bundle-gateway.ts';
import { gatewayFiles, taskSettings } from '../../../infra/gateway/gateway-task.ts';

/** The gateway as its tasks run it: the bundle, in a process of its own, with the settings of the task definition. */
export class GatewayProcess {
  private readonly folder: string;
  private readonly variables: Record<string, string>;
  private child: ChildProcess;

  private constructor(folder: string, variables: Record<string, string>, child: ChildProcess) {
    this.folder = folder;
    this.variables = variables;
    this.child = child;
  }

  /** Bundles the gateway and starts it. @param variables of the environment, beside those of this process */
  static async start(variables: Record<string, string>): Promise<GatewayProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'bench-gateway-'));
    await bundleGateway(folder);
    return new GatewayProcess(folder, variables, await listening(folder, variables));
  }

  /** Kills the process and starts another one. */
  async restart(): Promise<void> {
    this.child.kill('SIGKILL');
    this.child = await listening(this.folder, this.variables);
  }

  async stop(): Promise<void> {
    this.child.kill('SIGKILL');
    await rm(this.folder, { recursive: true });
  }

  /** The memory of the process that is in RAM, in MiB: now, and the most that it was. */
  get memory(): { now: number; most: number } {
    return { now: this.kibibytes('VmRSS') / 1024, most: this.kibibytes('VmHWM') / 1024 };
  }

  /** The time that the process has spent on a processor, in seconds. */
  get cpu(): number {
    const fields = readFileSync(`/proc/${this.child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  private kibibytes(name: string): number {
    const [, kibibytes = '0'] =
      new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${this.child.pid}/status`, 'utf8')) ?? [];
    return Number(kibibytes);
  }
}

async function listening(folder: string, variables: Record<string, string>): Promise<ChildProcess> {
  const started = spawn(process.execPath, [join(folder, gatewayFiles[0])], {
    env: { ...process.env, ...taskSettings, ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise<void>((resolve, reject) => {
    started.stdout.on('data', (chunk) => {
      if (String(chunk).includes('The gateway listens')) resolve();
    });
    started.once('exit', (code) => reject(new Error(`The gateway ended with ${code} before it listened.`)));
  });
  return started;
}
