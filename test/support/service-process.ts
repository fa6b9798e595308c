import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFree } from '../../local/machine/listen.ts';
import { type Call, callAs } from './ready-computation.ts';
import { repeating } from './repeating-call.ts';

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
  /** A token for alice, administrator of d1. */
  token: string;
  /** Calls the service as alice, again while it is busy. */
  call: Call;
  end: (signal: NodeJS.Signals) => Promise<number | null>;
}

interface ServiceOptions {
  /** Variables besides those of this process. */
  environment?: Record<string, string>;
  /** Lets simulated CVMs take the runs. Default false. */
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
  const token = /^export TOKEN=(\S+)$/m.exec(output)?.[1] ?? '';
  return {
    pid: child.pid ?? 0,
    output: () => output,
    exited,
    hasEnded: () => !running.has(child),
    baseUrl,
    token,
    call: repeating(callAs(baseUrl, token)),
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

/** Says whether a process is the engine itself. The shell beside it, which ends it, has the program among its arguments. */
function isEngine(pid: number): boolean {
  try {
    const [program = ''] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return program.endsWith('/dynoxide');
  } catch {
    return false; // the process has ended in the meantime
  }
}

/** Lists the child processes of a process, on Linux. */
export function childrenOf(pid: number): number[] {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return processes.map(Number).filter((child) => parentOf(child) === pid);
}

/** Lists the descendants of a process, on Linux. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** Says whether a process runs, on Linux. One that has ended does not, even if it is still a zombie. */
export function isAlive(pid: number): boolean {
  return parentOf(pid) !== undefined;
}

/** Returns the parent of a process that runs. */
function parentOf(pid: number): number | undefined {
  try {
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return state === 'Z' ? undefined : Number(parent);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ESRCH'].includes(code) && existsSync('/proc/self')) return undefined; // the process has ended in the meantime
    throw error;
  }
}

const workers = 49;
const portsOfWorker = 100;
/** The lowest TCP port of tests. It is above 10,080, which `fetch` refuses to call. */
const lowest = 10_100;
let taken = process.pid % portsOfWorker;

/**
 * Finds a free TCP port for a program that binds it seconds later. No other worker of these tests asks for it, and no engine: those
 * take ports from 15,000 on.
 * @throws Error if no port is free
 */
export async function ownPort(): Promise<number> {
  const first = lowest + portsOfWorker * (Number(process.env['VITEST_POOL_ID'] ?? 0) % workers);
  for (let attempt = 0; attempt < portsOfWorker; attempt++) {
    const port = first + (taken++ % portsOfWorker);
    if (await isFree(port, '127.0.0.1')) return port;
  }
  throw new Error(`No TCP port of 127.0.0.1 from ${first} to ${first + portsOfWorker - 1} is free.`);
}
