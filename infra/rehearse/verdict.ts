import * as v from 'valibot';
import { impossible } from './impossible.ts';

const resultsSchema = v.object({
  testResults: v.array(
    v.object({
      message: v.optional(v.string(), ''),
      name: v.string(),
      assertionResults: v.array(
        v.object({
          status: v.picklist(['passed', 'failed', 'skipped', 'pending', 'todo', 'disabled']),
          fullName: v.string(),
          failureMessages: v.optional(v.nullable(v.array(v.string()))),
        }),
      ),
    }),
  ),
});

export interface Verdict {
  passed: number;
  skipped: string[];
  failed: { title: string; message: string }[];
  /** What failed as it must on the emulator, with what was seen. */
  impossible: { title: string; reason: string }[];
  /** Listed as impossible, and passed: the list is out of date. */
  possible: string[];
}

/** What vitest's JSON report means, given what the emulator is known to be unable to do. */
export function judge(results: unknown, known: Record<string, string> = impossible): Verdict {
  const { testResults } = v.parse(resultsSchema, results);
  const cases = testResults.flatMap((file) => file.assertionResults);
  const failures = cases.filter(({ status }) => status === 'failed');
  const unloaded = testResults.filter((file) => file.assertionResults.length === 0);
  return {
    passed: cases.filter(({ status }) => status === 'passed').length,
    skipped: cases.filter(({ status }) => status !== 'passed' && status !== 'failed').map(({ fullName }) => fullName),
    failed: [
      ...unloaded.map(({ name, message }) => ({ title: name, message })),
      ...failures
        .filter(({ fullName }) => known[fullName] === undefined)
        .map(({ fullName, failureMessages }) => ({ title: fullName, message: failureMessages?.[0] ?? '' })),
    ],
    impossible: failures.flatMap(({ fullName }) => {
      const reason = known[fullName];
      return reason === undefined ? [] : [{ title: fullName, reason }];
    }),
    possible: cases.filter(({ status, fullName }) => status === 'passed' && fullName in known).map(({ fullName }) => fullName),
  };
}

export function describeVerdict({ passed, skipped, failed, impossible: unable, possible }: Verdict): string {
  return [
    `\n${passed} passed, ${failed.length} failed, ${unable.length} impossible on the emulator, ${skipped.length} not run`,
    ...failed.map(({ title, message }) => `\nFAILED      ${title}\n            ${message.split('\n')[0] ?? ''}`),
    ...unable.map(({ title, reason }) => `\nimpossible  ${title}\n            ${reason}`),
    ...skipped.map((title) => `\nnot run     ${title}`),
    ...possible.map((title) => `\nnow passes  ${title}\n            Take it out of infra/rehearse/impossible.ts.`),
  ].join('\n');
}
