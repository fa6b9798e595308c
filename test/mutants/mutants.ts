import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseOptions, runCommand } from '../../shared/command-line/arguments.ts';
import { UsageError } from '../../shared/command-line/usage-error.ts';
import { coreFiles, coreTests } from './core-files.ts';
import { findNamed } from './find-named.ts';
import { judgeAll } from './judge-all.ts';
import { mutantsOf } from './operators.ts';
import { readReach } from './reach-map.ts';
import { reportOn, scoreOf, unexplained } from './report.ts';
import { endTestRuns } from './run-tests.ts';
import { sampleOf } from './sample.ts';
import { readSourceTree } from './source-tree.ts';
import { openTypeCheck } from './type-check.ts';
import { makeWorkingCopy } from './working-copy.ts';

const leastScore = 0.9;

const usage = `Usage: npm run mutants -- [--sample N] [--seed WORD] [--only PATH] [--workers N] [--fresh]

Changes the domain's core in many small ways and runs the tests that reach each change. Runs every named mutant of
test/mutants/named-mutants.ts, and a sample of all others that compile.

  --sample   how many others; default 300
  --seed     which others; default 1
  --only     only mutants of files whose path begins so
  --workers  how many run at a time; default 2
  --fresh    forgets what earlier runs found out

A run that was stopped resumes. A kill is known again while the code of the mutated file and the test file that
killed it are as they were; a survival while no file is changed. Survivors are printed, and kept in coverage/mutants.txt.
The exit code is 1 below a score of ${100 * leastScore} %, if a mutant survives without a reason in test/mutants/accepted-mutants.ts,
and if a named mutant survives or its code is gone.`;

await runCommand(usage, async (args) => {
  const options = parseOptions(args, {
    sample: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    workers: { type: 'string', default: '2' },
    fresh: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  });
  if (options.help) {
    console.log(usage);
    return;
  }
  const tree = readSourceTree(resolve(import.meta.dirname, '../..'));
  const { root, textOf } = tree;
  const files = coreFiles(root);
  const isWanted = ({ file }: { file: string }) => file.startsWith(options.only);
  const { found, lost } = findNamed((file) => (files.includes(file) ? textOf(file) : undefined));
  const named = found.filter(isWanted);
  const others = files.flatMap((file) => mutantsOf(file, textOf(file))).filter(isWanted);
  const size = numberFrom('--sample', options.sample, 0);
  console.log(`${others.length} mutants could be made; choosing ${size} that compile, and ${named.length} named ones.`);
  const types = openTypeCheck(tree, files);
  const sample = sampleOf(others, { seed: options.seed, size }, textOf, types.compiles);

  const copies = Array.from({ length: numberFrom('--workers', options.workers, 1) }, () => makeWorkingCopy(root));
  const leave = () => {
    endTestRuns();
    for (const copy of copies) copy.remove();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      leave();
      process.exit(130);
    });
  }
  try {
    const reach = await readReach(tree, copies, { files, tests: coreTests(root), isFresh: options.fresh });
    const judged = await judgeAll(tree, copies, [...named, ...sample], { reach, types, isFresh: options.fresh });
    const report = reportOn(judged);
    mkdirSync(join(root, 'coverage'), { recursive: true });
    writeFileSync(join(root, 'coverage/mutants.txt'), `${report}\n`);
    console.log(`\n${report}`);
    for (const each of lost) console.log(`\nA named mutant must be named again: ${each}`);
    const namedSurvive = judged.some(({ mutant, verdict }) => named.includes(mutant) && verdict.outcome === 'survived');
    if (namedSurvive) console.log('\nA named mutant survives.');
    const withoutReason = unexplained(judged);
    for (const place of withoutReason) console.log(`\nSurvives without a reason: ${place}`);
    const hasFailed = lost.length > 0 || namedSurvive || withoutReason.length > 0 || scoreOf(judged) < leastScore;
    process.exitCode = hasFailed ? 1 : 0;
  } finally {
    leave();
  }
});

function numberFrom(option: string, text: string, least: number): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < least) throw new UsageError(`${option} is ${JSON.stringify(text)}; expected a number.`);
  return number;
}
