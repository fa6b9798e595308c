import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path/posix';
import { parseOptions, runCommand } from '../../shared/command-line/arguments.ts';
import { type Coverage, isMutated, root } from './covered.ts';
import { type Mutant, mutantsOf } from './mutants-of.ts';

const leastShare = 0.92;
/** The reasons why some changes make no difference, by file and change. */
const equivalents = JSON.parse(readFileSync(join(import.meta.dirname, 'equivalents.json'), 'utf8')) as Record<string, string>;
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const usage = `Usage: npm run mutants -- [--seed N] [--count N] [--files PREFIX] [--defences]

Changes "count" (default 100) places of the sources, chosen by "seed" (default 1), and runs the tests that cover each, in a copy. Prints what
survives. With --defences also each line that "// defence" marks. Not counted: test/mutants/equivalents.json, and survivors that do not compile.
The exit code is 1 if fewer than ${100 * leastShare} % are noticed, or a defence is not.`;

await runCommand(usage, async (args) => {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { seed: text('1'), count: text('100'), files: text(''), defences: flag, help: flag };
  const { help, seed, count, files, defences } = parseOptions(args, options);
  if (help) return console.log(usage);
  const all = globSync('{shared,gateway,local,packages}/**/*.ts', { cwd: root, exclude: (name) => name === 'node_modules' })
    .filter((file) => isMutated(file) && file.startsWith(files))
    .flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')))
    // The choice stays while other lines change.
    .map((mutant) => ({ mutant, rank: hashOf(JSON.stringify([seed, mutant.file, mutant.before, mutant.after])) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ mutant }) => mutant);
  const chosen = all.filter(({ isDefence }, index) => index < Number(count) || (defences && isDefence));
  console.log(`${chosen.length} of ${all.length} changes`);
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const copy = makeWorkingCopy(join(folder, 'copy'));
  const coverage = await coverageOf(copy);
  const counts = { killed: 0, survived: 0, equivalent: 0, uncompiled: 0 };
  let undefended = 0;
  for (const [index, mutant] of chosen.entries()) {
    const { file, line, operator, before, after, isDefence } = mutant;
    const [outcome, why] = await judge(copy, mutant, coverage);
    counts[outcome] += 1;
    if (outcome === 'survived' && isDefence) undefended += 1;
    console.log(`${index + 1} of ${chosen.length}: ${outcome} ${file}:${line} (${operator}) ${why}`);
    if (outcome === 'survived') console.log(`  before  ${before}\n  after   ${after}`);
  }
  const share = counts.killed / (counts.killed + counts.survived);
  console.log(`${JSON.stringify(counts)}: ${(100 * share).toFixed(1)} % were noticed.`);
  process.exitCode = share < leastShare || undefended > 0 ? 1 : 0;
});

/** Makes a copy of the repository, whose files may be changed. It shares the installed packages, and has its own of the workspace. */
function makeWorkingCopy(copy: string): string {
  const leftOut = ['.git', 'node_modules', 'cdk.out', 'dist', 'coverage', '.data'];
  cpSync(root, copy, { recursive: true, filter: (path) => !leftOut.includes(basename(path)) });
  const [from, to] = [join(root, 'node_modules'), join(copy, 'node_modules')];
  mkdirSync(to);
  for (const entry of readdirSync(from).filter((name) => name !== '.cache')) {
    const isOfWorkspace = lstatSync(join(from, entry)).isSymbolicLink();
    symlinkSync(isOfWorkspace ? readlinkSync(join(from, entry)) : join(from, entry), join(to, entry));
  }
  return copy;
}

/** Runs a program of Node in a folder. Returns its exit code, or null if it was ended after the time limit. */
async function exitCodeOf(cwd: string, words: string[], seconds: number, env: NodeJS.ProcessEnv = {}): Promise<number | null> {
  // A group of its own, which ends as a whole.
  const options = { cwd, env: { ...process.env, ...env }, stdio: 'ignore', detached: true } as const;
  const child = spawn(process.execPath, words, options);
  const end = () => child.pid !== undefined && child.exitCode === null && process.kill(-child.pid, 'SIGKILL');
  const late = setTimeout(end, 1_000 * seconds);
  process.once('exit', end);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(late);
  process.off('exit', end);
  return code;
}

/** Returns what each file of tests covers that passes without a change. Measured once for each state of the repository. */
async function coverageOf(copy: string): Promise<Coverage[]> {
  const git = (...words: string[]) => execFileSync('git', words, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const kept = join(root, 'node_modules/.cache/mutants', `${hashOf(git('rev-parse', 'HEAD') + git('diff', 'HEAD'))}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8')) as Coverage[];
  console.log('All tests run once, to learn what each covers.');
  // Code from the cache has no counters.
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/mutants/vitest.config.ts'];
  await exitCodeOf(copy, words, 7_200, { NODE_DISABLE_COMPILE_CACHE: '1' });
  const covered = join(copy, 'node_modules/.covered');
  const coverage = readdirSync(covered).map((name) => JSON.parse(readFileSync(join(covered, name), 'utf8')) as Coverage);
  mkdirSync(dirname(kept), { recursive: true });
  writeFileSync(kept, JSON.stringify(coverage));
  return coverage;
}

type Outcome = 'killed' | 'survived' | 'equivalent' | 'uncompiled';

async function judge(copy: string, mutant: Mutant, coverage: Coverage[]): Promise<[Outcome, why: string]> {
  const { file, before, after, start, end, replacement } = mutant;
  const reason = equivalents[`${file}: ${before} => ${after}`];
  if (reason !== undefined) return ['equivalent', reason];
  const path = join(copy, file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, original.slice(0, start) + replacement + original.slice(end));
  try {
    const tests = testsOf(mutant, coverage);
    for (let from = 0, size = 3; from === 0 || from < tests.length; from += size, size *= 4) {
      const batch = tests.slice(from, from + size);
      // More than a busy machine needs: the change may have made a loop that does not end.
      const seconds = 120 + 5 * batch.reduce((sum, test) => sum + test.seconds, 0);
      const words = ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', ...batch.map(({ test }) => test)];
      const code = batch.length === 0 ? 0 : await exitCodeOf(copy, words, seconds, { TEST_PATIENCE: '60000' });
      if (code !== 0) return ['killed', code === null ? 'by the time limit' : `by ${batch[0]?.test ?? ''} …`];
      // Before all other tests, which may take minutes. A value that is used no more is no error.
      const compile = ['node_modules/typescript-7/bin/tsc', '--noUnusedLocals', 'false', '--noUnusedParameters', 'false'];
      if (from === 0 && (await exitCodeOf(copy, compile, 600)) !== 0) return ['uncompiled', 'after the first tests'];
    }
    return ['survived', `after ${tests.length} files of tests`];
  } finally {
    writeFileSync(path, original);
  }
}

/** Returns the tests that run a place, the nearest and shortest first. */
function testsOf({ file, start }: Mutant, coverage: Coverage[]): Coverage[] {
  const runs = ({ files }: Coverage) => (files[file]?.filter((place) => place <= start).length ?? 0) % 2 === 1;
  const isBeside = ({ test }: Coverage) => dirname(test) === `test/${dirname(file)}`;
  // A module runs once in a process: what it does then is tested by those who use it.
  const found = [runs, ({ files }: Coverage) => file in files, isBeside].map((covers) => coverage.filter(covers));
  const words = ['test', ...file.replace('.ts', '').split('/')];
  const nearness = ({ test }: Coverage) => [...words, ''].findIndex((word, at) => test.split(/[/.]/)[at] !== word);
  return (found.find((tests) => tests.length > 0) ?? []).toSorted((a, b) => nearness(b) - nearness(a) || a.seconds - b.seconds);
}
