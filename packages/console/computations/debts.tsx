import { useDomain } from '../access/console-context.ts';
import type { Debt, Overview } from '../loading/overview.ts';
import { useNow } from '../show/service-clock.ts';
import { durationText, momentText } from '../show/texts.ts';
import { Name, Names } from '../show/visible-texts.tsx';

interface Props {
  overview: Overview;
  /** Returns since when a user owes something, where that is known. */
  since?: (debt: Debt, user: string) => string | undefined;
}

/** What a run waits for, and for whom. */
export function Debts({ overview: { parties, unowned, others }, since }: Props) {
  const { me } = useDomain();
  return (
    <ul aria-label="What a run waits for">
      {parties.flatMap(({ user, owes }) =>
        owes.map((debt) => (
          <li key={JSON.stringify([user, debt])}>
            <Name of={user} />
            {user === me.user && ' (you)'}: <DebtText debt={debt} />
            <Waited since={since?.(debt, user)} />
          </li>
        )),
      )}
      {unowned.map((debt) => (
        <li key={debt.files.join()}>
          Nobody whom the service names: <DebtText debt={debt} />
        </li>
      ))}
      {others.map(({ kind, sentence }) => (
        <li key={sentence}>{kind === 'algorithm' ? `${sentence}: link one under Inputs` : <Name of={sentence} />}</li>
      ))}
    </ul>
  );
}

function DebtText({ debt: { kind, files } }: { debt: Debt }) {
  if (kind === 'key') return 'public key';
  const what = kind === 'content' ? 'content of ' : files.length === 0 ? 'approval' : 'approval for ';
  return (
    <>
      {what}
      <Names of={files} />
    </>
  );
}

function Waited({ since }: { since: string | undefined }) {
  const now = useNow();
  if (since === undefined) return null;
  return (
    <time dateTime={since} title={`since ${momentText(since)}, ${since} (UTC)`}>
      , for {durationText(now - Date.parse(since))}
    </time>
  );
}
