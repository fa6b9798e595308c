import { failedChecks, type Verdict, verifyToken } from 'computation-management-attestation';
import { hashOfBytes } from 'computation-management-formats/digests';
import { timeOf } from 'computation-management-formats/timestamps';
import type { AttestationFiles } from './evidence-files.ts';
import { fails, type Finding, holds, note, quoted } from './finding.ts';
import type { Statement } from './statement.ts';

type Attestation = NonNullable<Statement['attestation']>;
type Token = Attestation['tokens'][number];
interface Judged {
  token: Token;
  verdict: Verdict;
}

/**
 * Verifies the attestation tokens in a statement again, as of the time when the service did, and compares the verdicts. Checks
 * that a run with an attestation policy had evidence that satisfies the policy.
 */
export async function checkAttestation(statement: Statement, files: AttestationFiles): Promise<Finding[]> {
  const { attestation, configuration, run } = statement;
  const policy = configuration.attestation_policy;
  if (attestation === null) {
    if (policy !== null)
      return [fails('The run needed a CVM that satisfies an attestation policy, and no attestation is stated.')];
    return [note('The service verified no attestation of the CVM, and the run demanded none.')];
  }
  const given = new Map(files.tokens?.map((token) => [hashOfBytes(token), token]));
  const { tokens } = attestation;
  const others = [...given.keys()].filter((hash) => !tokens.some((token) => token.hash === hash));
  const results = await Promise.all(tokens.map((token) => checkToken(statement, token, given.get(token.hash), files)));
  const judged = results.flatMap(({ judged }) => judged ?? []);
  return [
    ...others.map((hash) => fails(`The given token ${quoted(hash)} is none of those of the statement.`)),
    ...results.map(({ finding }) => finding),
    ...checkShown(attestation, judged),
    ...(policy === null ? [] : [satisfies(attestation, judged, policy, run.status)]),
    ...(files.roots ? [note('Other roots than those of AMD and Intel were trusted, as you said: this proves no TEE.')] : []),
  ];
}

async function checkToken(
  { run, issued_at, certificate }: Statement,
  token: Token,
  content: Uint8Array | undefined,
  { tokens: _, ...material }: AttestationFiles,
): Promise<{ finding: Finding; judged?: Judged }> {
  const { hash, verdict, verified_at } = token;
  const what = `The token ${quoted(hash)}`;
  if (verdict === 'not judged' || verified_at === '') {
    if ((verdict === 'not judged') !== (verified_at === ''))
      return { finding: fails(`${what} has a verdict without a time, or a time without a verdict.`) };
    return { finding: note(`${what} was not verified by the service.`) };
  }
  if (!(timeOf(verified_at) <= timeOf(issued_at))) {
    return { finding: fails(`${what} was verified at ${quoted(verified_at)}, which is not before the statement.`) };
  }
  if (certificate === null && verdict === 'verified') {
    return { finding: fails(`${what} is verified, says the service, but the CVM has no certificate that it was made over.`) };
  }
  if (!content) return { finding: note(`${what} was not given, so the verdict of the service, ${verdict}, was not checked.`) };
  const boundTo = certificate === null ? null : { certificate };
  const { collateral } = token;
  const own = await verifyToken(content, { ...material, collateral, boundTo, now: new Date(timeOf(verified_at)) });
  const why = reasons(own.checks);
  if (own.verdict !== verdict) {
    return {
      finding: fails(`${what} is ${own.verdict}, not ${verdict} as the service states. ${why}`),
      judged: { token, verdict: own },
    };
  }
  const found =
    verdict === 'verified'
      ? `a machine of ${own.platform} with the measurement ${own.measurement ?? ''} made it over the certificate of the CVM ${quoted(run.cvm_id)}`
      : why;
  return { finding: holds(`${what} is ${verdict}, as the service states: ${found}.`), judged: { token, verdict: own } };
}

/**
 * Checks that the stated verdict on the CVM is that of the token which counts: a refused token before all others, then a verified
 * one.
 */
function checkShown({ verdict, checks, tokens }: Attestation, judged: readonly Judged[]): Finding[] {
  const verdicts = tokens.flatMap(({ verdict }) => (verdict === 'not judged' ? [] : verdict));
  const counts = (['refused', 'verified', 'unsupported'] as const).find((each) => verdicts.includes(each));
  if (verdict !== counts) return [fails(`The stated verdict is ${verdict}, but that of the tokens is ${counts ?? 'none'}.`)];
  if (judged.length < verdicts.length || judged.some((each) => each.verdict.verdict !== each.token.verdict)) return [];
  const outcomes = (list: readonly { name: string; passed: boolean }[]) =>
    JSON.stringify(list.map(({ name, passed }) => [name, passed]));
  const counting = judged.filter(({ token }) => token.verdict === verdict);
  if (counting.some((each) => outcomes(each.verdict.checks) === outcomes(checks))) return [];
  return [fails('The stated checks are not those of a token with the stated verdict.')];
}

/**
 * Checks that the evidence of the CVM satisfies the attestation policy of the run. For a run that failed, evidence that does not
 * is only a note: the run may have failed because of that.
 */
function satisfies(
  { verdict, checks, tokens }: Attestation,
  judged: readonly Judged[],
  policy: NonNullable<Statement['configuration']['attestation_policy']>,
  status: string,
): Finding {
  const isWhole = tokens.every((token) => token.verdict === 'not judged' || judged.some((each) => each.token === token));
  // Of the tokens that were not given, only what the service states can be judged.
  const failed = isWhole
    ? failedChecks(
        judged.map(({ token: { kind }, verdict }) => ({ kind, verdict })),
        policy,
      )
    : checks.filter(({ passed }) => !passed);
  const isAllowed =
    verdict === 'refused' && failed.length > 0 && failed.every(({ name }) => name === 'debug' && policy.allow_debug);
  const stated = checks.length > 0 && (verdict === 'verified' ? failed.length === 0 : isAllowed);
  if (isWhole && failed.length === 0) return holds('The evidence of the CVM satisfies the attestation policy of the run.');
  if (!isWhole && stated) return note('Not all tokens were given, so the attestation policy of the run was not checked.');
  const sentence = `The evidence of the CVM does not satisfy the attestation policy of the run. ${reasons(failed)}`.trim();
  return status === 'failed' ? note(`${sentence} The run failed.`) : fails(sentence);
}

/** Says which checks of some evidence failed and why, leaving out checks that could not run. */
function reasons(checks: Verdict['checks']): string {
  const failed = checks.filter(({ passed, detail }) => !passed && !detail.startsWith('not checked'));
  return failed.map(({ name, detail }) => `${name}: ${quoted(detail)}`).join('; ');
}
