import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** The first test that failed, and its message's first line. */
export interface Failure {
  file: string;
  title: string;
  message: string;
}

export interface TestRun {
  outcome: 'passed' | 'failed' | 'timeout';
  failed?: Failure;
  output: string;
  /** The files that passed. */
  passed: string[];
  seconds: number;
}

interface Options {
  /** Records what each file reaches in this directory. Runs all files, whether others fail or not. */
  recorded?: { directory: string; workers: number };
  limitInSeconds: number;
}

interface JsonReport {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
}

/** Some assertions print what they compare as a whole. */
const longestMessage = 300;

const running = new Set<number>();

/** Runs test files of a working copy in the order given, up to the first failure. */
export async function runTests(directory: string, files: string[], { recorded, limitInSeconds }: Options): Promise<TestRun> {
  const started = performance.now();
  const report = join(directory, 'mutants-report.json');
  rmSync(report, { force: true });
  const options = [
    '--root',
    directory,
    '--config',
    'test/mutants/vitest.config.ts',
    '--reporter',
    'json',
    '--outputFile',
    report,
  ];
  const child = spawn(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...options, ...files], {
    cwd: directory,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: join(directory, 'node-compile-cache'),
      MUTANTS_ORDER: files.join(','),
      ...(recorded ? { MUTANTS_REACHED: recorded.directory, MUTANTS_WORKERS: String(recorded.workers) } : {}),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a group of its own, which ends as a whole
  });
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const limit = new AbortController();
  const late = delay(limitInSeconds * 1000, 'late' as const, { signal: limit.signal }).catch(() => 'in time' as const);
  const code = await Promise.race([closed, late]);
  limit.abort();
  if (code === 'late') {
    endGroup(pid);
    await closed;
  }
  if (pid !== undefined) running.delete(pid);
  const seconds = (performance.now() - started) / 1000;
  if (code === 'late') return { outcome: 'timeout', output, passed: [], seconds };
  if (code === 0) return { outcome: 'passed', output, passed: files, seconds };
  if (!existsSync(report)) throw new Error(`The tests ended without a report.\n${output}`);
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as JsonReport;
  const passed = testResults.filter(({ status }) => status === 'passed').map(({ name }) => name.slice(directory.length + 1));
  return { outcome: 'failed', failed: firstFailure(directory, testResults), output, passed, seconds };
}

/** Ends every test run that is under way. */
export function endTestRuns(): void {
  for (const pid of running) endGroup(pid);
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Files that were given up after the failure count as failed too, without a failed test. */
function firstFailure(directory: string, testResults: JsonReport['testResults']): Failure {
  const isFailed = ({ status }: { status: string }) => status === 'failed';
  const failed = testResults.filter(isFailed);
  const file =
    failed.find(({ assertionResults }) => assertionResults.some(isFailed)) ?? failed.find(({ message }) => message) ?? failed[0];
  const test = file?.assertionResults.find(isFailed);
  return {
    file: file?.name.slice(directory.length + 1) ?? '',
    title: test?.fullName ?? 'the file itself',
    message: (test?.failureMessages[0] ?? file?.message ?? '').slice(0, longestMessage).split('\n')[0] ?? '',
  };
}
