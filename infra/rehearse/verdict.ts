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
          ancestorTitles: v.array(v.string()),
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
  /** What the suite does not ask a deployed stage: how many cases under each heading. */
  notRun: Map<string, number>;
  /** Reasons that no case failed for any more. */
  outdated: string[];
}

/** What the suite's report (vitest's JSON) means, given what the emulator is known to be unable to do. */
export function judge(results: unknown, known: Impossibility[] = impossible): Verdict {
  const { testResults } = v.parse(resultsSchema, results);
  const verdict: Verdict = { passed: 0, failed: [], impossible: new Map(), notRun: new Map(), outdated: [] };
  for (const { name, message, assertionResults } of testResults) {
    if (assertionResults.length === 0) verdict.failed.push({ title: name, message });
    for (const { status, fullName: title, ancestorTitles, failureMessages } of assertionResults) {
      const reason = known.find((each) => each.title.test(title))?.reason;
      if (status === 'passed') verdict.passed++;
      else if (status !== 'failed') countOne(verdict.notRun, ancestorTitles[0] ?? title);
      else if (reason === undefined) verdict.failed.push({ title, message: failureMessages?.[0]?.split('\n')[0] ?? '' });
      else countOne(verdict.impossible, reason);
    }
  }
  verdict.outdated = known.map(({ reason }) => reason).filter((reason) => !verdict.impossible.has(reason));
  return verdict;
}

function countOne(counts: Map<string, number>, what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1);
}

function sumOf(counts: Map<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

export function describeVerdict({ passed, failed, impossible: unable, notRun, outdated }: Verdict): string {
  return [
    `\n${passed} passed, ${failed.length} failed, ${sumOf(unable)} impossible on the emulator, ${sumOf(notRun)} not run\n`,
    ...failed.map(({ title, message }) => `FAILED: ${title}\n    ${message}`),
    ...[...unable].map(([reason, count]) => `impossible, ${count} cases: ${reason}`),
    ...[...notRun].map(([heading, count]) => `not run on a deployed stage, ${count} cases: ${heading}`),
    ...outdated.map((reason) => `possible by now, so take it out of infra/rehearse/impossible.ts: ${reason}`),
  ].join('\n');
}
