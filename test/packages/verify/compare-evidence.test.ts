import { randomUUID } from 'node:crypto';
import { numberedId } from 'computation-management-formats/identifiers';
import { compareEvidence } from 'computation-management-verify';
import { describe, expect, it } from 'vitest';
import { filesOf, genuineEvidence, newServiceKey } from './genuine-evidence.ts';
import { genuineResult, signedResult } from './genuine-result.ts';

const approval_id = randomUUID();
const numbered = (use: number) =>
  genuineEvidence(1, {
    change: ({ approvals }) => approvals.forEach((each) => Object.assign(each, { max_runs: 3, approval_id, use })),
  });

/** Returns the file of the evidence of another run, signed again. */
function ofOtherRun(
  use: number,
  change: (statement: ReturnType<typeof numbered>['statement']) => void = () => undefined,
): string {
  const evidence = numbered(use);
  const statement = structuredClone(evidence.statement);
  statement['run'] = { ...(statement['run'] as object), id: numberedId(43) };
  change(statement);
  return filesOf({ ...evidence, statement, signature: evidence.signed(statement) }).evidence;
}

const files = filesOf(numbered(1));
const sentences = async (...others: string[]) =>
  (await compareEvidence(files, others)).map(({ verdict, sentence }) => `${verdict}: ${sentence}`);

describe('compareEvidence', () => {
  it('finds two runs with one number of one approval', async () => {
    const found = await sentences(ofOtherRun(2), ofOtherRun(1));
    expect(found[0]).toMatch(/^holds: The other evidence \(1\), of the run .*, does not contradict this one/);
    expect(found[1]).toMatch(/^does not hold: Two runs, .* have the same number, 1, of one approval of "alice"/);
  });

  it('lets a number be used again that a run without a CVM gave back', async () => {
    const unaccepted = ofOtherRun(1, (statement) => {
      const { last, started } = statement['events'] as { last: object; started: object };
      const details = Buffer.from(JSON.stringify({ accepted: false })).toString('base64');
      statement['events'] = { started, last: { ...last, details } };
    });
    expect((await sentences(unaccepted)).join()).toContain('does not contradict');
  });

  it('finds two statements about one run', async () => {
    expect(await sentences(files.evidence)).toHaveLength(1);
    const evidence = numbered(1);
    const statement = { ...evidence.statement, service_version: '0.2.0' };
    const other = filesOf({ ...evidence, statement, signature: evidence.signed(statement) }).evidence;
    expect((await sentences(other))[0]).toContain('does not hold: The service has signed two different statements about the run');
  });

  it('compares the others with each other', async () => {
    const found = await sentences(ofOtherRun(2), ofOtherRun(2));
    expect(found[0]).toContain('does not contradict');
    expect(found[1]).toMatch(/^does not hold: Two runs, .* have the same number, 2, of one approval of "alice"/);
  });

  it('finds statements that name two logs', async () => {
    const other = ofOtherRun(2, (statement) => (statement['log'] = { ...(statement['log'] as object), origin: 'another' }));
    expect((await sentences(other)).join()).toMatch(/^does not hold: .* with two logs, "\S+" and "another"\.$/);
  });

  it('compares statements about results', async () => {
    const { made, statement } = genuineResult({
      decisions: [
        [0, 'release'],
        [1, 'release'],
      ],
    });
    const [result, other] = [statement, { ...statement, size: 11 }].map((each) => signedResult(made, each)) as [string, string];
    const { evidence, keys } = filesOf(made);
    const found = async (own: Parameters<typeof compareEvidence>[0], ...others: string[]) =>
      (await compareEvidence(own, others)).map(({ verdict, sentence }) => `${verdict}: ${sentence}`).join('\n');
    expect(await found({ evidence, keys }, result)).toMatch(/^holds: .* does not contradict this one\.$/);
    expect(await found({ evidence: result, keys }, evidence, result)).toMatch(/^holds: .*\nholds: .*$/);
    const lie = /^does not hold: The service has signed two different statements about the result of the run "\S+"\.$/;
    expect(await found({ evidence: result, keys }, other)).toMatch(lie);
    expect(await found({ evidence, result, keys }, other)).toMatch(lie);
  });

  it('compares nothing that the service did not sign', async () => {
    const { signed } = newServiceKey();
    const evidence = numbered(1);
    const forged = filesOf({ ...evidence, signature: signed(evidence.statement) }).evidence;
    expect((await sentences(forged))[0]).toContain('is not signed by the service');
  });
});
