import { type ChildProcess, spawn } from 'node:child_process';
import { getPriority, loadavg, availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const usage = `Usage: npm run test:busy -- [--runs=N] [--load=L] [test files]

Runs the tests while other processes keep the machine at a load of L or more.

  --runs=N    the number of runs of the tests (default 1)
  --load=L    the number of processes that compute meanwhile (default 5 for each processor)`;

/** Computes at the priority of the tests until its parent has ended, however that ends. */
const computes = 'const parent = process.ppid; while (process.ppid === parent) for (let i = 0; i < 1e7; i++);';

const { values, positionals: files } = argumentsOrUsage();
const runs = Number(values.runs ?? 1);
const load = Number(values.load ?? 5 * availableParallelism());
if (values.help || !Number.isInteger(runs) || !Number.isInteger(load) || runs < 1 || load < 1) {
  console.log(usage);
  process.exit(values.help ? 0 : 2);
}

const generators = Array.from({ length: load }, () => spawn(process.execPath, ['-e', computes], { stdio: 'ignore' }));
let tests: ChildProcess | undefined;
process.on('exit', () => {
  for (const generator of generators) generator.kill('SIGKILL');
  endTests();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

console.log(`${load} processes compute while the tests run, with priority ${getPriority()}.`);
let failed = 0;
for (let run = 1; run <= runs; run++) {
  const loads: number[] = [];
  const watching = new AbortController();
  const watched = watchLoad(loads, watching.signal);
  const startedAt = performance.now();
  const code = await runTests();
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  watching.abort();
  await watched;
  if (code !== 0) failed++;
  const seen = `load ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}`;
  console.log(`Run ${run} of ${runs}: ${code === 0 ? 'passed' : 'failed'} in ${seconds} s, ${seen}.`);
}
process.exit(failed === 0 ? 0 : 1);

function argumentsOrUsage() {
  try {
    return parseArgs({
      options: { runs: { type: 'string' }, load: { type: 'string' }, help: { type: 'boolean' } },
      allowPositionals: true,
    });
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

function runTests(): Promise<number | null> {
  const child = spawn('npx', ['vitest', 'run', '--reporter=dot', ...files], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true, // its own process group, so that all of its processes end together
  });
  tests = child;
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      tests = undefined;
      resolve(code);
    });
  });
}

/** Ends every process of the tests that are running. */
function endTests(): void {
  if (tests?.pid === undefined) return;
  try {
    process.kill(-tests.pid, 'SIGKILL');
  } catch {
    // they have ended in the meantime
  }
}

/** Records the system's load average of the last minute every few seconds. It takes a minute to rise. */
async function watchLoad(loads: number[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    loads.push(loadavg()[0] ?? 0);
    await delay(5_000, undefined, { signal }).catch(() => undefined);
  }
}
