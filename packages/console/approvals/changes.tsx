import type { Schemas } from 'computation-management-client';
import { type ChangeCard, changeCards, type MarkedText } from 'computation-management-words';
import { useDomain } from '../access/index.ts';
import { useLoaded } from '../loading/index.ts';
import { Ago, type Look, Looking, StatusIndicator } from '../show/index.ts';

/** The number of a computation's latest events that are searched for who made a change. A change before them is told without a name. */
const latestEvents = 100;

/** Describes the changes that made approvals stale, by the user who approved: who changed what, as far as the journal tells. */
export function useChanges(
  computation: Schemas['Computation'],
  approvals: readonly Schemas['Approval'][],
): ReadonlyMap<string, ChangeCard[]> {
  const { client } = useDomain();
  const { id } = computation;
  const stale = approvals.filter(({ stale_because }) => stale_because !== null);
  const [from] = stale.map(({ approved_at }) => approved_at).sort();
  const loaded = useLoaded(JSON.stringify([id, stale]), async (signal) =>
    from === undefined ? [] : (await client.listEvents({ id, from, limit: latestEvents, signal })).events,
  );
  const events = loaded.value ?? [];
  return new Map(stale.map((approval) => [approval.user, changeCards(approval, { computation, events })]));
}

/** Shows a change of what an approval covers in a sentence, with how long ago the change was made. */
export function Change({ of: { sentence, at, warning } }: { of: ChangeCard }) {
  return (
    <>
      <bdi>{sentence}</bdi>
      <Since at={at} />
      <Warning of={warning} />
    </>
  );
}

/** Shows behind a text how long ago something happened, if that is known. */
export function Since({ at }: { at: string | undefined }) {
  if (at === undefined) return null;
  return (
    <>
      , <Ago at={at} />
    </>
  );
}

function Warning({ of }: { of: string | undefined }) {
  return of === undefined ? null : <StatusIndicator type="error">{of}</StatusIndicator>;
}

const looks: Record<ChangeCard['effect'], Look> = {
  weaker: { type: 'warning', text: 'Weaker' },
  stricter: { type: 'success', text: 'Stricter' },
  changed: { type: 'info', text: 'Changed' },
};

/** Shows a card for each change since an approval, the most harmful first: who changed what, what was approved, and what is there now. */
export function ChangeCards({ of }: { of: readonly ChangeCard[] }) {
  return (
    of.length > 0 && (
      <ul className="plain stack" aria-label="What has changed since your approval">
        {of.map(({ sentence, effect, approved, current, at, warning }, index) => (
          <li key={index} className={`change ${effect} long-words`}>
            <Looking like={looks[effect]} />
            <div>
              <strong>{sentence}</strong>
              <Since at={at} />
            </div>
            <Warning of={warning} />
            {(approved ?? current) && (
              <dl>
                <Side label="You approved" of={approved} />
                <Side label="Now" of={current} />
              </dl>
            )}
          </li>
        ))}
      </ul>
    )
  );
}

function Side({ label, of }: { label: string; of: MarkedText | null }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {of
          ? of.map(({ text, differs }, index) => (differs ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>))
          : 'Nothing'}
      </dd>
    </div>
  );
}
