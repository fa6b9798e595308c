import type { Schemas } from 'computation-management-client';
import { describeChanges } from 'computation-management-words';
import { printable } from 'computation-management-formats/printable';
import { plainName } from 'computation-management-formats/quoted-name';
import { detailsOf } from '../terminal/event-details.ts';
import { hanging, relativeTime } from '../terminal/text.ts';
import type { Connection, Context } from './context.ts';

/** Explains why approvals of a computation do not count, as lines. Empty if all count. */
export async function whyStale(
  { terminal: { now, signal, columns } }: Pick<Context, 'terminal'>,
  { client }: Connection,
  id: string,
  isShown: (approval: Schemas['Approval']) => boolean = () => true,
): Promise<string> {
  const { approvals } = await client.listApprovals({ id, signal });
  const ago = (at: string) => relativeTime(at, now());
  const explain = async ({ user, approved_at, cvm_ids, stale_because }: Schemas['Approval']) => {
    const [{ assets }, { events }] = await Promise.all([
      client.getComputation({ id, signal }),
      client.listEvents({ id, from: approved_at, limit: 100, signal }),
    ]);
    const changes = describeChanges(stale_because ?? [], {
      datasets: assets.filter(({ asset_type }) => asset_type === 'dataset').map(({ file_name }) => file_name),
      cvm_ids,
      events: events.map((event) => ({ ...event, details: detailsOf(event) })),
    });
    return [
      `The approval of ${plainName(user)}, given ${ago(approved_at)}, does not count any more:`,
      ...changes.map(({ sentence, at }) => `  - ${sentence}${at === undefined ? '' : `, ${ago(at)}`}`),
    ].map((line) => `${hanging(printable(line), columns)}\n`);
  };
  const shown = approvals.filter((approval) => approval.stale_because !== null && isShown(approval));
  return (await Promise.all(shown.map(explain))).flat().join('');
}
