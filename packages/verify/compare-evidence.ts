import { canonicalJson } from 'computation-management-formats/digests';
import type { EvidenceFiles } from './evidence-files.ts';
import { fails, failsIf, type Finding, holds, party, quoted } from './finding.ts';
import { signedStatement } from './signed-evidence.ts';
import { detailsOf, type ResultStatement, type Statement } from './statement.ts';

/**
 * Compares evidence with that of other parties or other runs, and these with each other. Statements that contradict each other, each signed
 * by the service, prove that it lied to somebody: two about one run or its result, two that name two logs, and two runs with one number of
 * one approval.
 * @param keys the public keys of the service: the same for all
 * @param others evidence of runs, and statements about results
 * @throws UnreadableError if a file does not have the form that the check needs
 */
export async function compareEvidence(
  { evidence, result, keys }: Pick<EvidenceFiles, 'evidence' | 'result' | 'keys'>,
  others: readonly string[],
): Promise<Finding[]> {
  if (others.length === 0) return [];
  const own = await signedStatement({ evidence, keys });
  if (!own) return [fails('The evidence is not signed by the service, so it was not compared.')];
  const ownResult = result === undefined ? undefined : await signedStatement({ evidence: result, keys });
  const statements = ownResult ? [own, ownResult] : [own];
  const findings: Finding[] = [];
  for (const [index, other] of others.entries()) {
    const what = `The other evidence (${index + 1})`;
    const statement = await signedStatement({ evidence: other, keys });
    if (!statement) {
      findings.push(fails(`${what} is not signed by the service, so it proves nothing against it.`));
      continue;
    }
    const problems = statements.flatMap((each) => contradictions(each, statement));
    const compared = holds(`${what}, of the run ${quoted(runOf(statement))}, does not contradict this one.`);
    findings.push(...(problems.length > 0 ? problems : [compared]));
    statements.push(statement);
  }
  return findings;
}

type AnyStatement = Statement | ResultStatement;

const runOf = ({ run }: AnyStatement) => (typeof run === 'string' ? run : run.id);

function contradictions(one: AnyStatement, other: AnyStatement): Finding[] {
  if (one.type === other.type && runOf(one) === runOf(other)) {
    const about = `${one.type === 'computation-result:v1' ? 'the result of ' : ''}the run ${quoted(runOf(one))}`;
    return failsIf(
      canonicalJson(one) !== canonicalJson(other),
      `The service has signed two different statements about ${about}.`,
    );
  }
  if (canonicalJson(one.log) !== canonicalJson(other.log)) {
    return [fails(`The service has signed statements with two logs, ${quoted(one.log.origin)} and ${quoted(other.log.origin)}.`)];
  }
  if (!('approvals' in one && 'approvals' in other)) return [];
  return one.approvals.flatMap(({ user, approval_id, use }) => {
    const twice = other.approvals.find((each) => approval_id !== null && each.approval_id === approval_id && each.use === use);
    if (!twice || use === null || !isAccepted(one) || !isAccepted(other)) return [];
    const runs = `${quoted(one.run.id)} and ${quoted(other.run.id)}`;
    return [
      fails(`Two runs, ${runs}, have the same number, ${use}, of one approval of ${party(user)}: the service lied about one.`),
    ];
  });
}

/** Returns whether a CVM accepted a run, as the event that ended it says. A run that none accepted gives its number back. */
const isAccepted = ({ events }: Statement) => detailsOf(events.last)['accepted'] !== false;
