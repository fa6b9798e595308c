import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCache } from './cache.ts';
import { instrumented } from './reach-points.ts';
import { runTests } from './run-tests.ts';
import { slowness } from '../support/slowness.ts';
import type { SourceTree } from './source-tree.ts';
import type { WorkingCopy } from './working-copy.ts';

/** What one test file takes on a quiet machine, and the points of the code that it reaches. */
export interface TestReach {
  file: string;
  seconds: number;
  reached: string[];
}

/** What the set-up file of the tests writes, one file for each test file. */
interface Recorded {
  path: string;
  seconds: number;
  reached: string[];
}

const limitInSeconds = 3600;

/** What every test file reaches, known from before where neither it nor the sources have changed. */
export async function readReach(
  tree: SourceTree,
  copies: WorkingCopy[],
  { files, tests, isFresh }: { files: string[]; tests: string[]; isFresh: boolean },
): Promise<TestReach[]> {
  const cache = openCache<TestReach & { dependsOn: string }>(tree.root, 'reach');
  let open = tests.filter((test) => isFresh || cache.get(test)?.dependsOn !== tree.hashFor(test));
  const [copy] = copies;
  if (!copy) throw new Error('There is no working copy.');
  for (const file of files) copy.write(file, instrumented(file, tree.textOf(file)));
  for (const workers of [copies.length, 1]) {
    if (open.length === 0) break;
    const recorded = await record(copy, open, workers);
    for (const reach of recorded) cache.set(reach.file, { ...reach, dependsOn: tree.hashFor(reach.file) });
    open = open.filter((test) => !recorded.some(({ file }) => file === test));
  }
  for (const file of files) copy.write(file, tree.textOf(file));
  for (const test of open) console.log(`${test} fails twice without any mutant. It is left out.`);
  return tests.filter((test) => !open.includes(test)).flatMap((test) => cache.get(test) ?? []);
}

/** @returns what the files reach that pass. Another one would seem to notice every mutant */
async function record(copy: WorkingCopy, tests: string[], workers: number): Promise<TestReach[]> {
  console.log(`Running ${tests.length} test files once, to see what each of them reaches.`);
  const directory = mkdtempSync(join(copy.directory, 'reached-'));
  const { passed, failed, seconds } = await runTests(copy.directory, tests, { recorded: { directory, workers }, limitInSeconds });
  console.log(`That took ${seconds.toFixed(0)} s.`);
  if (failed) console.log(`${failed.file} fails without any mutant: ${failed.title}. ${failed.message}`);
  const load = slowness();
  const records = readdirSync(directory).map((name) => JSON.parse(readFileSync(join(directory, name), 'utf8')) as Recorded);
  return records
    .map(({ path, seconds, reached }) => ({ file: path.slice(copy.directory.length + 1), seconds: seconds / load, reached }))
    .filter(({ file }) => passed.includes(file));
}
