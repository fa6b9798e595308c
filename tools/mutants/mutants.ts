import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path/posix';
import { parseOptions, runCommand } from '../../shared/command-line/arguments.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';
import { mutantsOf, type Mutant } from './mutants-of.ts';
import { exitsWith0, makeWorkingCopy, root } from './working-copy.ts';

const leastScore = 0.9;

const usage = `Usage: npm run mutants -- [--files GLOB] [--sample N] [--seed WORD] [--workers N]

Changes the domain's core in small ways. Runs the tests of the changed file and of its folder for each change, and those of the whole service
if none of them fails. Prints the changes that survive. A file that does not compile any more is not counted.

  --files   which files; default shared/**/*.ts
  --sample  how many changes; default 100
  --seed    which changes; default 1
  --workers how many at a time; default 2

The exit code is 1 if fewer than ${100 * leastScore} % are noticed.`;

type Outcome = 'killed' | 'survived' | 'uncompiled';

await runCommand(usage, async (args) => {
  const options = parseOptions(args, {
    files: { type: 'string', default: 'shared/**/*.ts' },
    sample: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    help: { type: 'boolean', short: 'h' },
  });
  if (options.help) {
    console.log(usage);
    return;
  }
  const files = globSync(options.files, { cwd: root }).sort();
  if (files.length === 0) throw new UsageError(`--files is ${JSON.stringify(options.files)}; no file has such a name.`);
  const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(root, file), 'utf8')));
  const rank = ({ file, before, after }: Mutant) =>
    createHash('sha256')
      .update(JSON.stringify([options.seed, file, before, after]))
      .digest('hex');
  const ranked = all.map((mutant) => ({ mutant, rank: rank(mutant) })).sort((a, b) => (a.rank < b.rank ? -1 : 1));
  const sample = ranked.slice(0, numberFrom('--sample', options.sample)).map(({ mutant }) => mutant);
  console.log(`${sample.length} of ${all.length} changes`);
  const judged = await judgeAll(sample, numberFrom('--workers', options.workers));
  const counted = judged.filter(({ outcome }) => outcome !== 'uncompiled');
  const killed = counted.filter(({ outcome }) => outcome === 'killed').length;
  const score = killed / counted.length;
  const uncompiled = judged.length - counted.length;
  console.log(`\n${killed} of ${counted.length} were noticed (${(100 * score).toFixed(1)} %). ${uncompiled} do not compile.`);
  process.exitCode = score < leastScore ? 1 : 0;
});

function numberFrom(option: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`${option} is ${JSON.stringify(text)}; expected a number above 0.`);
  return Number(text);
}

/** Judges the mutants side by side, one in each working copy at a time, and prints each that survives. */
async function judgeAll(mutants: Mutant[], workers: number): Promise<{ mutant: Mutant; outcome: Outcome }[]> {
  const judged: { mutant: Mutant; outcome: Outcome }[] = [];
  const open = mutants.values();
  const folder = mkdtempSync(join(tmpdir(), 'mutants-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const work = async (_: unknown, worker: number) => {
    const copy = makeWorkingCopy(join(folder, String(worker)));
    for (const mutant of open) {
      const outcome = await judge(copy, mutant);
      judged.push({ mutant, outcome });
      const { file, line, operator, before, after } = mutant;
      console.log(`${judged.length} of ${mutants.length}: ${file}:${line} ${outcome} (${operator})`);
      if (outcome === 'survived') console.log(`  before  ${before}\n  after   ${after}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return judged;
}

/** The tests of the whole service have deadlines that a busy machine may miss, so they must fail twice. */
async function judge(copy: string, mutant: Mutant): Promise<Outcome> {
  const path = join(copy, mutant.file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(path, mutant.text);
  try {
    for (const tests of near(mutant.file)) if (await fail(copy, tests)) return 'killed';
    if (!(await exitsWith0(copy, ['node_modules/typescript/bin/tsc']))) return 'uncompiled';
    const ofService = ['test/functions', 'test/e2e', 'test/lifecycle', 'test/concurrency', 'test/access'];
    return (await fail(copy, ofService)) && (await fail(copy, ofService)) ? 'killed' : 'survived';
  } finally {
    writeFileSync(path, original);
  }
}

/** The test of a file, and then those of its folder. */
function near(file: string): string[][] {
  const own = join('test', file.replace(/\.ts$/, '.test.ts'));
  const folder = `test/${dirname(file)}/`;
  return [[own], [folder]].filter(([path = '']) => existsSync(join(root, path)));
}

async function fail(copy: string, tests: string[]): Promise<boolean> {
  return !(await exitsWith0(copy, ['node_modules/vitest/vitest.mjs', 'run', '--bail=1', '--passWithNoTests', ...tests]));
}
