import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

/** One of the services that are compared. Each runs in processes of its own. */
export interface Service {
  name: string;
  /** What is requested in each case. A case that a service does not have is absent. */
  cases: Partial<Record<CaseName, () => Promise<unknown>>>;
  stop: () => Promise<void>;
}

export const callers = [1, 4, 16] as const;
export const rounds = 3;
/** How long requests are sent to each service, for each case and number of callers, in each round. */
export const millisecondsPerRound = 2_000;
/** Before the first round, requests are sent for so long that are not measured: a new process is several times slower. */
export const warmUpInMilliseconds = 1_000;
/** A run can be started and reported once, so these cases have a number of requests in place of a time. */
export const runsPerRound = 48;
/** As many runs as the cases start. */
export const startsPerService = callers.length * rounds * runsPerRound;

/** Reads come first: what was just created is read from the log for some seconds, which peers do not have. */
export const caseNames = [
  'read one',
  'first page',
  'page at 90 %',
  'filtered page',
  'total alone',
  'create',
  'start of a run',
  'report of its end',
] as const;
export type CaseName = (typeof caseNames)[number];

/** Sends a request. @throws Error unless the answer is 2xx */
export async function request(
  method: string,
  url: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<unknown> {
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(url, { method, headers: { 'content-type': 'application/json', ...headers }, ...sent });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${text.slice(0, 300)}`);
  return text === '' ? {} : JSON.parse(text);
}

interface ServerProcess {
  url: string;
  environment: Record<string, string>;
  /** Default: that of this process. */
  directory?: string;
}

/** Starts a process, and waits until its address answers. It ends with this process at the latest. */
export async function startServer(
  command: string[],
  { url, environment, directory }: ServerProcess,
): Promise<() => Promise<void>> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    cwd: directory,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (bytes: Buffer) => (output = (output + bytes.toString()).slice(-2_000)));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const stop = async () => {
    end();
    await ended;
    process.off('exit', end);
  };
  await Promise.race([
    untilItAnswers(url, child),
    ended.then(() => {
      throw new Error(`${program} did not start: ${output}`);
    }),
  ]);
  return stop;
}

const longestStartInMilliseconds = 120_000;

async function untilItAnswers(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + longestStartInMilliseconds;
  while (child.exitCode === null) {
    const isUp = await fetch(url).then(
      (response) => response.status < 500,
      () => false,
    );
    if (isUp) return;
    if (Date.now() > deadline) throw new Error(`${url} does not answer.`);
    await delay(200);
  }
}
