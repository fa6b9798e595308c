import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCache } from './cache.ts';
import { instrumented } from './reach-points.ts';
import { runTests } from './run-tests.ts';
import { slowness } from './slowness.ts';
import type { SourceTree } from './source-tree.ts';
import type { WorkingCopy } from './working-copy.ts';

/** What one test file takes on a quiet machine, start included, and the points of the code that it reaches. */
export interface TestReach {
  file: string;
  seconds: number;
  reached: string[];
}

const limitInSeconds = 1200;

/** What every test file reaches, known from before where neither it nor the sources have changed. */
export async function readReach(
  tree: SourceTree,
  copies: WorkingCopy[],
  { files, tests, isFresh }: { files: string[]; tests: string[]; isFresh: boolean },
): Promise<TestReach[]> {
  const cache = openCache<TestReach & { dependsOn: string }>(tree.root, 'reach');
  const open = tests.filter((test) => isFresh || cache.get(test)?.dependsOn !== tree.hashFor(test));
  if (open.length > 0) console.log(`Running ${open.length} test files once, to see what each of them reaches.`);
  for (const copy of copies) for (const file of files) copy.write(file, instrumented(file, tree.textOf(file)));
  await Promise.all(
    copies.map(async (copy) => {
      for (let test = open.shift(); test !== undefined; test = open.shift()) {
        const reach = await recordOne(copy, test);
        if (!reach) continue;
        cache.set(test, { ...reach, dependsOn: tree.hashFor(test) });
        console.log(`${test} takes ${reach.seconds.toFixed(1)} s; ${open.length} more wait.`);
      }
    }),
  );
  for (const copy of copies) for (const file of files) copy.write(file, tree.textOf(file));
  return tests.flatMap((test) => cache.get(test) ?? []).filter((reach) => reach.dependsOn === tree.hashFor(reach.file));
}

/** Undefined for a test file that fails twice: it would pass for one that notices mutants. */
async function recordOne(copy: WorkingCopy, test: string): Promise<TestReach | undefined> {
  for (const attempt of [1, 2]) {
    const reached = join(copy.directory, `reached-${test.replaceAll('/', '-')}-${attempt}`);
    const { outcome, seconds, failed } = await runTests(copy.directory, [test], { reached, limitInSeconds });
    if (outcome === 'passed') {
      const points = existsSync(reached) ? readFileSync(reached, 'utf8').trim().split('\n') : [];
      return { file: test, seconds: seconds / slowness(), reached: [...new Set(points)] };
    }
    console.log(`${test} fails without any mutant: ${failed?.title ?? outcome}. ${failed?.message ?? ''}`);
  }
  console.log(`${test} is left out.`);
  return undefined;
}
