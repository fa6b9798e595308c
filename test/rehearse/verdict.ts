import * as v from 'valibot';

/** A pattern for full titles of end-to-end cases that the emulator cannot pass, and what was seen instead. */
export interface Impossibility {
  title: RegExp;
  reason: string;
}

const impossible: Impossibility[] = [
  {
    title: / answers 401 without a token$/,
    reason: 'The 401 of its JWT authorizer lacks the header `www-authenticate: Bearer` that API Gateway sends.',
  },
];

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
  /** The number of cases that failed as expected on the emulator, by reason. */
  impossible: Map<string, number>;
  /** The number of cases that do not run on a deployed stage, by heading. */
  notRun: Map<string, number>;
  /** The reasons for which no case failed. */
  outdated: string[];
}

/** Interprets the suite's report (JSON of vitest), given the cases that the emulator is known to be unable to pass. */
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
    ...outdated.map((reason) => `no longer impossible, remove it from test/rehearse/verdict.ts: ${reason}`),
  ].join('\n');
}
