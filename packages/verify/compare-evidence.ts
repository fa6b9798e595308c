import { canonicalJson } from 'computation-management-formats/digests';
import type { EvidenceFiles } from './evidence-files.ts';
import { fails, type Finding, holds, party, quoted } from './finding.ts';
import { signedStatement } from './signed-evidence.ts';
import { detailsOf, type Statement } from './statement.ts';

/**
 * Compares evidence with that of other parties or other runs. Statements that contradict each other, each signed by the service, prove that it
 * lied to somebody: two about one run, and two runs with one number of one approval.
 * @param keys the public keys of the service: the same for all
 * @throws UnreadableError if a file does not have the form that the check needs
 */
export async function compareEvidence(
  { evidence, keys }: Pick<EvidenceFiles, 'evidence' | 'keys'>,
  others: readonly string[],
): Promise<Finding[]> {
  if (others.length === 0) return [];
  const own = await signedStatement({ evidence, keys });
  if (!own) return [fails('The evidence is not signed by the service, so it was not compared.')];
  const findings: Finding[] = [];
  for (const [index, other] of others.entries()) {
    const what = `The other evidence (${index + 1})`;
    const statement = await signedStatement({ evidence: other, keys });
    if (!statement) {
      findings.push(fails(`${what} is not signed by the service, so it proves nothing against it.`));
      continue;
    }
    const problems = contradictions(own, statement);
    const compared = holds(`${what}, of the run ${quoted(statement.run.id)}, does not contradict this one.`);
    findings.push(...(problems.length > 0 ? problems : [compared]));
  }
  return findings;
}

function contradictions(one: Statement, other: Statement): Finding[] {
  if (one.run.id === other.run.id) {
    const isSame = canonicalJson(one) === canonicalJson(other);
    return isSame ? [] : [fails(`The service has signed two different statements about the run ${quoted(one.run.id)}.`)];
  }
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
