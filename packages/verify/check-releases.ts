import { limitsOf } from 'computation-management-formats/consent';
import { timeOf } from 'computation-management-formats/timestamps';
import { countsAt, decides, neededUsers } from './check-approvals.ts';
import { fails, type Finding, holds, party, quoted } from './finding.ts';
import { type Approval, type ChainedEvent, detailsOf, nameOf, type Statement } from './statement.ts';

/** The most releases of a key to the CVM of one run. */
const mostReleases = 4;

/**
 * Checks the releases of keys in the journal of a run: that each is of a key that the run was started with, while the run went on, allowed by
 * a policy, before any approval that the run needed was taken back or had expired, and at most the fourth of its key.
 * @param events the given events, oldest first
 * @param first the place of the event that started the run
 * @param end the place of the event that ended it
 */
export function checkReleases(statement: Statement, events: ChainedEvent[], [first, end]: [number, number]): Finding[] {
  const places = events.flatMap(({ event_type, run_id }, place) =>
    event_type === 'key_released' && run_id === statement.run.id ? [place] : [],
  );
  const counts = new Map<unknown, number>();
  const problems = places.flatMap((place) => {
    const event = events[place];
    if (!event) return [];
    const asset = detailsOf(event)['asset'];
    const count = (counts.get(asset) ?? 0) + 1;
    counts.set(asset, count);
    const since = events.slice(first + 1, place);
    const reasons = [
      ...(place <= first || place >= end ? ['not while the run went on'] : []),
      ...(count > mostReleases ? [`more than ${mostReleases} times`] : []),
      ...whyNotOf(statement, event, since),
      ...statement.approvals.flatMap((approval) => whyNotBy(statement, approval, event, since)),
    ];
    return reasons.map((reason) => fails(`A key was released ${reason}: ${nameOf(event)}.`));
  });
  if (problems.length > 0 || places.length === 0) return problems;
  const what = places.length === 1 ? 'One key was released' : `Keys were released ${places.length} times`;
  return [holds(`${what} during the run, as its approvals and policies allow.`)];
}

/** Says why the keys and policies of a run do not allow a release. */
function whyNotOf({ assets, configuration, run }: Statement, event: ChainedEvent, since: ChainedEvent[]): string[] {
  const { asset: id, fingerprint } = detailsOf(event);
  const found = assets.find((asset) => asset.id === id);
  if (!found?.key) return ['of an asset without a key'];
  const { key } = found;
  const policy = key.release_policy ?? configuration.attestation_policy;
  const isAgain = since.some(({ event_type, run_id }) => event_type === 'Reconnected' && run_id === run.id);
  return [
    ...(key.fingerprint === fingerprint
      ? []
      : [`that is another one than the run was started with, ${quoted(String(fingerprint))}`]),
    ...(policy === null ? ['although no policy says which CVMs may get it'] : []),
    ...(isAgain && policy?.allow_reconnect === false ? ['after the agent of the CVM had connected again'] : []),
  ];
}

/** Says why an approval that a run needed does not allow a release any more. */
function whyNotBy(statement: Statement, approval: Approval, { timestamp }: ChainedEvent, since: ChainedEvent[]): string[] {
  const { user, expires_at } = approval;
  if (!neededUsers(statement).includes(user)) return [];
  const isOver = (time: string | null | undefined, at = timestamp) => time != null && !(timeOf(at) < timeOf(time));
  const acts = since.filter(({ originator }) => originator === user);
  const taken = acts.find((act) => takesBack(statement, act));
  const later = acts.filter(({ event_type }) => event_type === 'approved');
  const hasExpired = later.some((act, index) => isOver(limitsOf(detailsOf(act)).expires_at, later[index + 1]?.timestamp));
  return [
    ...(taken ? [`after ${party(user)} had taken the approval back, ${nameOf(taken)}`] : []),
    ...(isOver(expires_at) || hasExpired ? [`after the approval of ${party(user)} had expired`] : []),
  ];
}

/** Returns whether a user takes an approval of a run back by an event: ends it, or replaces it by one that does not count for the run. */
function takesBack(statement: Statement, event: ChainedEvent): boolean {
  if (event.event_type !== 'approved') return decides(event, event.originator);
  const { cvm_ids } = limitsOf(detailsOf(event));
  return cvm_ids?.includes(statement.run.cvm_id) === false || !countsAt(statement, event, event.timestamp);
}
