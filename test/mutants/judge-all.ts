import ts from 'typescript';
import { openCache } from './cache.ts';
import { hash } from './hash.ts';
import { distance, judge, sum, type Verdict } from './judge.ts';
import { applyTo, type Mutant } from './mutant.ts';
import { pointAround, reachPointsOf } from './reach-points.ts';
import type { TestReach } from './reach-map.ts';
import type { Judged } from './report.ts';
import type { SourceTree } from './source-tree.ts';
import type { TypeCheck } from './type-check.ts';
import { compiles } from './whole-type-check.ts';
import type { WorkingCopy } from './working-copy.ts';

/** A verdict with the hash of what it depends on: the test file that killed the mutant, or the whole tree. */
interface Known {
  verdict: Verdict;
  dependsOn: string | undefined;
}

/** Judges the mutants side by side, one in each working copy at a time, and prints how far it is. */
export async function judgeAll(
  tree: SourceTree,
  copies: WorkingCopy[],
  mutants: Mutant[],
  { reach, types, isFresh }: { reach: TestReach[]; types: TypeCheck; isFresh: boolean },
): Promise<Judged[]> {
  const cache = openCache<Known>(tree.root, 'verdicts');
  const dependencyOf = ({ killer }: Verdict) => (killer?.file ? tree.hashOf(killer.file) : tree.hash);
  const keyOf = (mutant: Mutant) => hash(`${mutant.file}\n${withoutComments(applyTo(tree.textOf(mutant.file), mutant))}`);
  const judged: Judged[] = [];
  const killsOf = (test: string, source?: string) =>
    judged.filter(({ mutant, verdict }) => verdict.killer?.file === test && (source === undefined || mutant.file === source))
      .length;
  const open: { mutant: Mutant; reaching: TestReach[] }[] = [];
  for (const mutant of mutants) {
    const known = isFresh ? undefined : cache.get(keyOf(mutant));
    const isValid = known && known.dependsOn === dependencyOf(known.verdict);
    if (isValid) judged.push({ mutant, text: tree.textOf(mutant.file), verdict: known.verdict });
    else {
      const point = pointAround(reachPointsOf(mutant.file, tree.textOf(mutant.file)), mutant.start);
      open.push({ mutant, reaching: reach.filter(({ reached }) => reached.includes(point)) });
    }
  }
  // The cheap ones first: what a run that is stopped has found out is known to the next one.
  open.sort((a, b) => costOf(a) - costOf(b));
  const sayProgress = progressOf(open.length);
  // Otherwise survivors would count as mutants that do not compile.
  if (copies[0] && !(await compiles(copies[0].directory))) throw new Error('The project does not compile without a mutant.');
  await Promise.all(
    copies.map(async (copy) => {
      for (let next = open.shift(); next; next = open.shift()) {
        const { mutant, reaching } = next;
        const text = tree.textOf(mutant.file);
        const verdict = await judge(copy, mutant, text, { reaching, killsOf, types });
        cache.set(keyOf(mutant), { verdict, dependsOn: dependencyOf(verdict) });
        judged.push({ mutant, text, verdict });
        sayProgress(judged);
      }
    }),
  );
  return judged;
}

/** Comments and layout may change: a verdict stays. */
function withoutComments(text: string): string {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { removeComments: true, target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext },
  });
  return outputText;
}

/** About how long it takes: the tests of the same folder, or all others where there are none. */
function costOf({ mutant, reaching }: { mutant: Mutant; reaching: TestReach[] }): number {
  const near = reaching.filter(({ file }) => distance(mutant.file, file) < 2);
  return sum(near.length > 0 ? near : reaching);
}

function progressOf(total: number): (judged: Judged[]) => void {
  const started = performance.now();
  let done = 0;
  return (judged) => {
    done += 1;
    const minutes = ((performance.now() - started) / 60_000 / done) * (total - done);
    const survived = judged.filter(({ verdict }) => verdict.outcome === 'survived').length;
    console.log(`${done} of ${total} mutants ran, ${survived} survived, about ${Math.ceil(minutes)} minutes left.`);
  };
}
