import * as v from 'valibot';
import { impossible, type Impossibility } from './impossible.ts';

const resultsSchema = v.object({
  testResults: v.array(
    v.object({
      name: v.string(),
      message: v.optional(v.string(), ''),
      assertionResults: v.array(
        v.object({
          status: v.string(),
          fullName: v.string(),
          failureMessages: v.optional(v.nullable(v.array(v.string()))),
        }),
      ),
    }),
  ),
});

export interface Verdict {
  passed: number;
  failed: { title: string; message: string }[];
  /** What failed as it must on the emulator: how many cases for each reason. */
  impossible: Map<string, number>;
  /** Cases that this stage cannot be asked. */
  notRun: string[];
  /** Reasons that no case failed for any more. */
  outdated: string[];
}

/** What the suite's report (vitest's JSON) means, given what the emulator is known to be unable to do. */
export function judge(results: unknown, known: Impossibility[] = impossible): Verdict {
  const { testResults } = v.parse(resultsSchema, results);
  const verdict: Verdict = { passed: 0, failed: [], impossible: new Map(), notRun: [], outdated: [] };
  for (const { name, message, assertionResults } of testResults) {
    if (assertionResults.length === 0) verdict.failed.push({ title: name, message });
    for (const { status, fullName: title, failureMessages } of assertionResults) {
      const reason = known.find((each) => each.title.test(title))?.reason;
      if (status === 'passed') verdict.passed++;
      else if (status !== 'failed') verdict.notRun.push(title);
      else if (reason === undefined) verdict.failed.push({ title, message: failureMessages?.[0]?.split('\n')[0] ?? '' });
      else verdict.impossible.set(reason, (verdict.impossible.get(reason) ?? 0) + 1);
    }
  }
  verdict.outdated = known.map(({ reason }) => reason).filter((reason) => !verdict.impossible.has(reason));
  return verdict;
}

export function describeVerdict({ passed, failed, impossible: unable, notRun, outdated }: Verdict): string {
  const unableCount = [...unable.values()].reduce((sum, count) => sum + count, 0);
  return [
    `\n${passed} passed, ${failed.length} failed, ${unableCount} impossible on the emulator, ${notRun.length} not run\n`,
    ...failed.map(({ title, message }) => `FAILED: ${title}\n    ${message}`),
    ...[...unable].map(([reason, count]) => `impossible, ${count} cases: ${reason}`),
    ...notRun.map((title) => `not run: ${title}`),
    ...outdated.map((reason) => `possible by now, so take it out of infra/rehearse/impossible.ts: ${reason}`),
  ].join('\n');
}
