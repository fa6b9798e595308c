import type { Schemas } from 'computation-management-client';
import { type DescribedChange, staleChanges } from 'computation-management-words';
import { useDomain } from '../access/console-context.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { Ago } from '../show/time.tsx';

type Approval = Schemas['Approval'];

/** The number of a computation's latest events that are searched for who made a change. A change before them is told without a name. */
const latestEvents = 100;

/** Describes the changes that made approvals stale, by the user who approved: who changed what, as far as the journal tells. */
export function useChanges(
  { id, assets }: Schemas['Computation'],
  approvals: readonly Approval[],
): ReadonlyMap<string, DescribedChange[]> {
  const { client } = useDomain();
  const stale = approvals.filter(({ stale_because }) => stale_because !== null);
  const [from] = stale.map(({ approved_at }) => approved_at).sort();
  const loaded = useLoaded(JSON.stringify([id, stale]), async (signal) =>
    from === undefined ? [] : (await client.listEvents({ id, from, limit: latestEvents, signal })).events,
  );
  const events = loaded.value ?? [];
  return new Map(stale.map((approval) => [approval.user, staleChanges(approval, { assets, events })]));
}

/** Shows a sentence for each change of what an approval covers, with how long ago the change was made. */
export function Changes({ of }: { of: readonly DescribedChange[] }) {
  return (
    <ul className="long-words">
      {of.map(({ sentence, at }) => (
        <li key={sentence}>
          <bdi>{sentence}</bdi>
          {at !== undefined && (
            <>
              , <Ago at={at} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
