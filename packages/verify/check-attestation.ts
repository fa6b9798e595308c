import { failedChecks, isJudged, lacksCertificate, type Verdict, type verifyToken } from 'computation-management-attestation';
import { hashOfBytes } from 'computation-management-formats/digests';
import { timeOf } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { isInOrder } from './check-run.ts';
import type { AttestationFiles } from './evidence-files.ts';
import { check, fails, type Finding, holds, note, quoted, unchecked } from './finding.ts';
import { type ChainedEvent, chainedEvent, detailsOf, type Statement } from './statement.ts';

type Attestation = NonNullable<Statement['attestation']>;
/** A function that verifies a token. */
type Verify = typeof verifyToken;
type Token = Attestation['tokens'][number];
type Policy = NonNullable<Statement['configuration']['attestation_policy']>;

/** An attestation token of a statement, what was found about it, and its own verdicts if it was given. */
interface Judged {
  token: Token;
  findings: Finding[];
  /** The verdict as of the start of the run, by which the policy is judged. */
  atStart?: Verdict;
  /** The verdict as of the time when the service says that it verified the token. */
  asStated?: Verdict | undefined;
}

/**
 * Verifies each given attestation token by its own report data and the certificate in the statement, whatever the statement says of
 * the token: as of the time that the service names, as of the start of the run, and as of now. Checks that a run with an
 * attestation policy had evidence that satisfies the policy.
 * @param events those of the computation's journal that are given
 */
export async function checkAttestation(
  statement: Statement,
  files: AttestationFiles,
  verify: Verify,
  events: readonly unknown[] = [],
): Promise<Finding[]> {
  const { attestation, configuration } = statement;
  const policy = configuration.attestation_policy;
  if (attestation === null && policy !== null)
    return [fails('The run needed a CVM that satisfies an attestation policy, and no attestation is stated.')];
  const tokens = attestation?.tokens ?? [];
  const given = new Map(files.tokens?.map((token) => [hashOfBytes(token), token]));
  const others = [...given.keys()].filter((hash) => !tokens.some((token) => token.hash === hash));
  const judged = await Promise.all(tokens.map((token) => judge(statement, token, given.get(token.hash), files, verify)));
  return [
    ...others.map((hash) => fails(`The given token ${quoted(hash)} is none of those of the statement.`)),
    ...judged.flatMap(({ findings }) => findings),
    checkFrozen(statement, tokens),
    ...(attestation ? checkShown(attestation, judged) : []),
    ...(attestation && policy
      ? [...checkGate(statement, judged), satisfies(attestation, judged, policy, statement.run.status)]
      : []),
    ...(policy?.allow_used_guest === false
      ? [
          ...usedGuests(statement, judged, events),
          note('Only the service can know whether another run used the guest before, which the policy forbids.'),
        ]
      : []),
    ...(policy?.allow_reconnect === false
      ? [note('Only the service can know whether the connection that attested got the run and kept it, as the policy demands.')]
      : []),
  ];
}

/** Finds runs before this one, in the given journal, that the SNP guest of a token accepted: their last events name the token. */
function usedGuests({ run, events: { started } }: Statement, judged: readonly Judged[], events: readonly unknown[]): Finding[] {
  const ofGuest = new Set(judged.flatMap(({ token, atStart }) => (atStart?.guest == null ? [] : token.hash)));
  const ends = events.filter((each): each is ChainedEvent => v.is(chainedEvent, each) && each.originator === 'system');
  return ends.flatMap((end) => {
    const { token_hashes, accepted } = detailsOf(end);
    const isEarlier = end.run_id !== run.id && timeOf(end.timestamp) <= timeOf(started.timestamp) && accepted !== false;
    const isOfGuest = Array.isArray(token_hashes) && token_hashes.some((hash) => ofGuest.has(String(hash)));
    const which = `The guest accepted the run ${quoted(end.run_id)} before, which the policy forbids.`;
    return isEarlier && isOfGuest ? [fails(which)] : [];
  });
}

/** Checks what the statement says of a token, and verifies the token again if it was given. */
async function judge(
  { run, events, certificate, configuration }: Statement,
  token: Token,
  content: Uint8Array | undefined,
  { tokens: _, now = new Date(), ...material }: AttestationFiles,
  verify: Verify,
): Promise<Judged> {
  const { hash, verdict, verified_at, collateral } = token;
  const what = `The token ${quoted(hash)}`;
  const hasVerdict = verdict !== 'not judged';
  const findings = [
    ...(hasVerdict === (verified_at === '') ? [fails(`${what} has a verdict without a time, or a time without a verdict.`)] : []),
    ...(hasVerdict && !isInOrder(verified_at, events.last.timestamp)
      ? [fails(`${what} was verified at ${quoted(verified_at)}, which is not before the end of the run.`)]
      : []),
  ];
  const say = configuration.attestation_policy === null ? note : unchecked;
  if (!content) {
    const ofService = hasVerdict ? `the verdict of the service, ${verdict}, was not checked` : 'nobody judged it';
    return { token, findings: [...findings, say(`${what} was not given, so ${ofService}.`)] };
  }
  const boundTo = certificate === null ? null : { certificate };
  const asOf = (time: Date) => verify(content, { ...material, collateral, boundTo, now: time });
  const start = events.started.timestamp;
  const atStart = await asOf(new Date(timeOf(start)));
  const unused = collateral.slice(/tdx/.test(atStart.platform) ? 1 : 0);
  if (unused.length > 0) findings.push(fails(`${what} has documents of Intel in the statement that it does not need.`));
  const lack = lacksCertificate(atStart) && say(`${what} was not checked. Give what it lacks: ${reasons(atStart.checks)}.`);
  if (lack) return { token, findings: [...findings, lack] };
  const asStated = hasVerdict ? await asOf(new Date(timeOf(verified_at))) : undefined;
  const present = await asOf(now);
  const at = `as of the start of the run, ${quoted(start)}`;
  const found =
    atStart.verdict === 'verified'
      ? `a machine of ${atStart.platform} with the measurement ${atStart.measurement ?? ''} made it over the certificate of the CVM ${quoted(run.cvm_id)}`
      : reasons(atStart.checks);
  const again = present.verdict === atStart.verdict ? ` So it is as of now, ${now.toISOString()}.` : '';
  const sentence = `${what} is ${atStart.verdict} ${at}: ${found}.${again}`;
  // defence
  if (asStated && asStated.verdict !== verdict)
    findings.push(fails(`${what} is ${asStated.verdict}, not ${verdict} as the service states. ${reasons(asStated.checks)}`));
  else if (asStated && asStated.verdict !== atStart.verdict)
    findings.push(note(`${what} was ${asStated.verdict} as of ${quoted(verified_at)}, as the service states. ${sentence}`));
  else if (asStated) findings.push(holds(`${sentence} The service states the same as of ${quoted(verified_at)}.`));
  else findings.push(note(`${sentence} The service did not judge it.`));
  const later = `as of now, ${now.toISOString()}, not ${atStart.verdict} any more`;
  if (again === '') findings.push(note(`${what} is ${present.verdict} ${later}: ${reasons(present.checks)}.`));
  return { token, findings, atStart, asStated };
}

/**
 * Checks that the statement has exactly the tokens that counted when the run ended: the event that ended the run names them. A statement
 * without an attestation has none, which is no more than a note.
 */
function checkFrozen({ attestation, events }: Statement, tokens: readonly Token[]): Finding {
  const named = detailsOf(events.last)['token_hashes'];
  const hashes = Array.isArray(named) ? named.map(String).sort() : [];
  const none = 'The service verified no attestation of the CVM, and the run demanded none.';
  if (attestation === null)
    return note(hashes.length === 0 ? none : `${none} These tokens counted at its end: ${hashes.map(quoted).join(', ')}.`);
  const isSame = JSON.stringify(hashes) === JSON.stringify([...new Set(tokens.map(({ hash }) => hash))].sort());
  return check(
    isSame && hashes.length === tokens.length, // defence
    `The tokens are those that counted when the run ended (${tokens.length}).`,
    'The tokens are not those that counted when the run ended: the event that ended the run names others, or none.',
  );
}

const longestInDays = 30;

/** Checks that a token was verified before the start of a run with an attestation policy, and notes a verdict that was old by then. */
function checkGate({ events: { started } }: Statement, judged: readonly Judged[]): Finding[] {
  const before = judged.flatMap(({ token, atStart }) => {
    const { kind, verdict, verified_at } = token;
    const counts = verdict !== 'not judged' && isJudged({ kind, verdict: atStart ?? { verdict, platform: kind } });
    return counts && isInOrder(verified_at, started.timestamp) ? [token] : [];
  });
  // defence
  if (before.length === 0)
    return [fails('No token was verified before the start of the run, although its attestation policy demands it.')];
  const longest = longestInDays * 24 * 3_600_000;
  const old = before.filter(({ verified_at }) => timeOf(started.timestamp) - timeOf(verified_at) > longest);
  return old.map(({ hash, verified_at }) =>
    note(`The service verified the token ${quoted(hash)} at ${quoted(verified_at)}, over ${longestInDays} days before the run.`),
  );
}

/**
 * Checks that the stated verdict on the CVM is that of the token which counts: a refused token before all others, then a verified
 * one.
 */
function checkShown({ verdict, checks, tokens }: Attestation, judged: readonly Judged[]): Finding[] {
  const verdicts = tokens.flatMap(({ verdict }) => (verdict === 'not judged' ? [] : verdict));
  const counts = (['refused', 'verified', 'unsupported'] as const).find((each) => verdicts.includes(each));
  if (verdict !== counts) return [fails(`The stated verdict is ${verdict}, but that of the tokens is ${counts ?? 'none'}.`)];
  const counting = judged.filter(({ token }) => token.verdict === verdict);
  if (counting.some(({ asStated }) => asStated?.verdict !== verdict)) return [];
  const outcomes = (list: readonly { name: string; passed: boolean }[]) =>
    JSON.stringify(list.map(({ name, passed }) => [name, passed]));
  if (counting.some(({ asStated }) => asStated && outcomes(asStated.checks) === outcomes(checks))) return [];
  return [fails('The stated checks are not those of a token with the stated verdict.')];
}

/**
 * Checks that the evidence of the CVM satisfies the attestation policy of the run. For a run that failed, evidence that does not
 * is only a note: the run may have failed because of that.
 */
function satisfies({ verdict, checks }: Attestation, judged: readonly Judged[], policy: Policy, status: string): Finding {
  const given = judged.flatMap(({ token: { kind }, atStart }) => (atStart ? [{ kind, verdict: atStart }] : []));
  const isWhole = given.length === judged.length;
  // Of tokens that were not given, only what the service states can be judged.
  const mayFail = (name: string) =>
    (name === 'debug' && policy.allow_debug) ||
    (name === 'tcb_status' && policy.accepted_tcb_statuses.some((each) => each !== 'UpToDate'));
  const failed = [
    ...(isWhole || given.some(isJudged) ? failedChecks(given, policy) : []),
    ...(isWhole ? [] : checks.filter(({ name, passed }) => !passed && !mayFail(name))),
  ];
  const isUnfounded = verdict === 'verified' ? checks.length === 0 : checks.every(({ passed }) => passed);
  if (failed.length === 0 && isWhole) return holds('The evidence of the CVM satisfies the attestation policy of the run.');
  if (failed.length === 0 && !isUnfounded)
    return unchecked('Not all tokens were checked, so the attestation policy of the run was not checked.');
  const sentence = `The evidence of the CVM does not satisfy the attestation policy of the run. ${reasons(failed)}`.trim();
  return status === 'failed' ? note(`${sentence} The run failed.`) : fails(sentence);
}

/** Says which checks of some evidence failed and why, leaving out checks that could not run. */
function reasons(checks: Verdict['checks']): string {
  const failed = checks.filter(({ passed, detail }) => !passed && !detail.startsWith('not checked'));
  return failed.map(({ name, detail }) => `${name}: ${quoted(detail)}`).join('; ');
}
