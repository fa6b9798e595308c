import { isDeepStrictEqual } from 'node:util';
import { limitsOf } from 'computation-management-formats/approval-signature';
import { configDigest } from 'computation-management-formats/canonical-json';
import { fingerprintOf } from './check-approvals.ts';
import { isBeginning } from './check-pages.ts';
import { fails, holds, type Finding } from './finding.ts';
import { detailsOf, nameOf, type Approval, type ChainedEvent, type Statement } from './statement.ts';

/**
 * Checks that each approval of a statement is the last one that its user gave before the run, and was not withdrawn. A signature
 * does not show that: its text has neither a time nor a number, so an approval that was withdrawn still has one that fits.
 * @param before the events before the run, oldest first. Those of the beginning may be missing
 */
export function checkApprovalsInJournal({ approvals, agent_config }: Statement, before: ChainedEvent[]): Finding[] {
  const [first] = before;
  if (!first || approvals.length === 0) return [];
  const isWhole = isBeginning(first);
  const config = configDigest(agent_config);
  const known = approvals.flatMap((approval) => {
    const event = before.findLast(({ event_type, originator }) => originator === approval.user && types.has(event_type));
    return event || isWhole ? [{ approval, event }] : [];
  });
  const problems = known.flatMap(({ approval, event }) => [
    ...checkLastOne(approval, event, config),
    ...checkKey(approval, before, isWhole),
  ]);
  if (problems.length > 0 || known.length === 0) return problems;
  const users = known.map(({ approval }) => approval.user).join(', ');
  return [holds(`The journal has the same approvals as the last ones before the run: ${users}.`)];
}

const types = new Set(['approved', 'approval_withdrawn']);

function checkLastOne(approval: Approval, event: ChainedEvent | undefined, config: string): Finding[] {
  const { user, digest, signature } = approval;
  if (!event) return [fails(`The journal has no approval of ${user} before the run.`)];
  if (event.event_type !== 'approved') return [fails(`${user} took the approval back before the run: ${nameOf(event)}.`)];
  const details = detailsOf(event);
  const given = { digest: details['digest'], signed: details['signed'], ...limitsOf(details) };
  const stated = { digest, signed: signature !== null, ...limitsOf(approval) };
  if (!isDeepStrictEqual(given, stated)) {
    return [fails(`The last approval of ${user} before the run was another one: ${nameOf(event)}.`)];
  }
  if (details['config_digest'] !== config) {
    return [fails(`${user} approved another configuration of the agent: ${nameOf(event)}.`)];
  }
  return [];
}

/** A user signs with an uploaded key. The approval does not count any more when the user has uploaded another key since signing. */
function checkKey({ user, key }: Approval, before: ChainedEvent[], isWhole: boolean): Finding[] {
  if (key === null) return [];
  const upload = before.findLast(({ event_type, originator }) => originator === user && event_type === 'key_uploaded');
  if (!upload) return isWhole ? [fails(`${user} signed with a key, but the journal has no upload of one before the run.`)] : [];
  if (detailsOf(upload)['fingerprint'] === fingerprintOf(key)) return [];
  return [fails(`${user} signed with another key than the last one uploaded before the run: ${nameOf(upload)}.`)];
}
