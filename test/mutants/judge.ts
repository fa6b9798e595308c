import { dirname } from 'node:path/posix';
import { acceptedReason } from './accepted-mutants.ts';
import { applyTo, nameOf, type Mutant } from './mutant.ts';
import type { TestReach } from './reach-map.ts';
import { runTests, type Failure, type TestRun } from './run-tests.ts';
import { slowness } from '../support/slowness.ts';
import type { TypeCheck } from './type-check.ts';
import { compiles } from './whole-type-check.ts';
import type { WorkingCopy } from './working-copy.ts';

export interface Verdict {
  /** `uncompiled`: no test fails, but the type check of the whole project does. */
  outcome: 'killed' | 'timeout' | 'survived' | 'uncompiled';
  /** The first test that failed. */
  killer?: Failure;
  /** How many test files reach the mutant, and how many of them ran. */
  tests: number;
  ran: number;
  seconds: number;
}

/** Test files run together up to this long on a quiet machine: a few first, so that a test which does not end shows soon. */
const secondsOfFirstGroup = 5;
const secondsPerGroup = 15;
/** Beyond this, on a quiet machine, the tests that reach a mutant are left out, the least likely ones. */
const mostSeconds = 40;

/** How many mutants a test file has killed, of one source file or of all. */
type KillCount = (test: string, source?: string) => number;

/**
 * Runs the tests that reach a mutant, the likeliest first, up to the first failure. Of one that is accepted to survive, only the
 * first group: it is expected to pass, and a survival counts as one all the same.
 */
export async function judge(
  copy: WorkingCopy,
  mutant: Mutant,
  text: string,
  { reaching, killsOf, types }: { reaching: TestReach[]; killsOf: KillCount; types: TypeCheck },
): Promise<Verdict> {
  const started = performance.now();
  const { file } = mutant;
  const killsPerSecond = (test: TestReach) => (1 + killsOf(test.file)) / test.seconds;
  const ordered = reaching.toSorted(
    (a, b) =>
      distance(file, a.file) - distance(file, b.file) ||
      killsOf(b.file, file) - killsOf(a.file, file) ||
      killsPerSecond(b) - killsPerSecond(a),
  );
  const verdict = (outcome: Verdict['outcome'], ran: number): Verdict => ({
    outcome,
    tests: reaching.length,
    ran,
    seconds: (performance.now() - started) / 1000,
  });
  let ran = 0;
  const isAccepted = acceptedReason(nameOf(mutant, text)) !== undefined;
  const open = groupsOf(ordered).slice(0, isAccepted ? 1 : undefined);
  for (let group = open.shift(); group; group = open.shift()) {
    const { outcome, failed, passed } = await runGroup(copy, mutant, text, group);
    if (outcome === 'timeout') return verdict('timeout', ran + group.length);
    ran += passed.length + (failed ? 1 : 0);
    if (!failed) continue;
    if (failed.file === '' || (await isKill(copy, mutant, text, failed))) return { ...verdict('killed', ran), killer: failed };
    const notRun = group.filter(({ file }) => file !== failed.file && !passed.includes(file));
    if (notRun.length > 0) open.unshift(notRun);
  }
  // The sample has mutants that compile by themselves. Files that use them may not compile any more.
  const isCompiled = !types.changesExports(file, applyTo(text, mutant)) || (await compilesMutated(copy, mutant, text));
  return verdict(isCompiled ? 'survived' : 'uncompiled', ran);
}

async function compilesMutated(copy: WorkingCopy, mutant: Mutant, text: string): Promise<boolean> {
  copy.write(mutant.file, applyTo(text, mutant));
  try {
    return await compiles(copy.directory);
  } finally {
    copy.write(mutant.file, text);
  }
}

/**
 * Whether a failed test says that it is the mutant's fault. The whole service has deadlines that a busy machine may miss, so its
 * tests must fail a second time with the mutant: the same test, or another one of a file that passes without the mutant.
 */
async function isKill(copy: WorkingCopy, mutant: Mutant, text: string, { file, title }: Failure): Promise<boolean> {
  if (file.startsWith('test/shared/')) return true;
  const { outcome, failed } = await runMutated(copy, mutant, text, [file], patienceInSeconds);
  if (outcome === 'passed') return false;
  if (failed?.title === title) return true;
  return (await runTests(copy.directory, [file], { limitInSeconds: patienceInSeconds })).outcome === 'passed';
}

const patienceInSeconds = 600;

async function runMutated(
  copy: WorkingCopy,
  mutant: Mutant,
  text: string,
  files: string[],
  limitInSeconds: number,
): Promise<TestRun> {
  copy.write(mutant.file, applyTo(text, mutant));
  try {
    return await runTests(copy.directory, files, { limitInSeconds });
  } finally {
    copy.write(mutant.file, text);
  }
}

/** The outcome `timeout` says that the tests take far longer than the same tests without the mutant, at the same load. */
async function runGroup(copy: WorkingCopy, mutant: Mutant, text: string, group: TestReach[]): Promise<TestRun> {
  const files = group.map(({ file }) => file);
  const limitInSeconds = (10 + 3 * sum(group)) * slowness();
  const run = await runMutated(copy, mutant, text, files, limitInSeconds);
  if (run.outcome !== 'timeout') return run;
  const { seconds } = await runTests(copy.directory, files, { limitInSeconds: 10 * limitInSeconds });
  const fairLimitInSeconds = 10 + 3 * seconds;
  return fairLimitInSeconds > limitInSeconds ? await runMutated(copy, mutant, text, files, fairLimitInSeconds) : run;
}

/** 0 for the test file of the source itself, 1 for the others of its folder or room, 2 for all others. */
export function distance(source: string, test: string): number {
  if (test === `test/${source.replace(/\.ts$/, '.test.ts')}`) return 0;
  return [`test/${dirname(source)}`, dirname(source).replace(/^shared/, 'test')].includes(dirname(test)) ? 1 : 2;
}

function groupsOf(tests: TestReach[]): TestReach[][] {
  const groups: TestReach[][] = [];
  let total = 0;
  for (const test of tests) {
    total += test.seconds;
    if (total > mostSeconds && groups.length > 0) break;
    const last = groups.at(-1);
    const limit = groups.length === 1 ? secondsOfFirstGroup : secondsPerGroup;
    if (last && sum(last) + test.seconds <= limit) last.push(test);
    else groups.push([test]);
  }
  return groups;
}

export function sum(tests: TestReach[]): number {
  return tests.reduce((seconds, test) => seconds + test.seconds, 0);
}
