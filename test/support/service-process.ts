import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownPort } from './own-port.ts';
import { childrenOf } from './processes.ts';
import { callAs, type Call } from './ready-computation.ts';

const command = join(import.meta.dirname, '../../local/start.ts');
const running = new Set<ReturnType<typeof spawn>>();

/** The program of `npm start`, in its own process. */
export interface ServiceProcess {
  pid: number;
  /** Everything printed on standard output and standard error. */
  output: () => string;
  exited: Promise<number | null>;
  hasEnded: () => boolean;
  baseUrl: string;
  /** Calls the service as alice, administrator of d1. */
  call: Call;
  end: (signal: NodeJS.Signals) => Promise<number | null>;
}

interface ServiceOptions {
  /** Variables besides those of this process. */
  environment?: Record<string, string>;
  /** Whether simulated CVMs take the runs. Default false. */
  simulator?: boolean;
}

/**
 * Starts the service, and waits until it answers or has ended.
 * @param limits shell commands to run first, such as `ulimit -f 8`
 */
export async function startService(
  args: string[],
  limits = ':',
  { environment = {}, simulator = false }: ServiceOptions = {},
): Promise<ServiceProcess> {
  const port = await ownPort();
  const options = ['--no-console', ...(simulator ? [] : ['--no-simulator']), ...args];
  const child = spawn('sh', ['-c', `${limits}; exec "$0" "$@"`, process.execPath, command, ...options], {
    env: { ...process.env, PORT: String(port), LOG_LEVEL: 'ERROR', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let output = '';
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve)).finally(() => running.delete(child));
  const answers = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += String(chunk);
        if (output.includes('Ctrl-C')) resolve();
      });
    }
  });
  await Promise.race([answers, exited]);
  const baseUrl = `http://localhost:${port}`;
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    hasEnded: () => !running.has(child),
    baseUrl,
    call: callAs(baseUrl, /^export TOKEN=(\S+)$/m.exec(output)?.[1] ?? ''),
    end: async (signal) => {
      child.kill(signal);
      return await exited;
    },
  };
}

/** Kills the processes that a failed test has left. */
export function killServices(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Lists the processes of a service's embedded DynamoDB engine. */
export function enginesOf(service: { pid: number }): number[] {
  return childrenOf(service.pid).flatMap(childrenOf).filter(isEngine);
}

/** Whether the program itself runs there: the shell beside it, which ends it, has the program among its arguments. */
function isEngine(pid: number): boolean {
  try {
    const [program = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program.endsWith('/dynoxide');
  } catch {
    return false; // the process has ended in the meantime
  }
}
