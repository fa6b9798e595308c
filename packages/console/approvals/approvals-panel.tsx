import { Button, SpaceBetween, type StatusIndicatorProps } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import {
  type ApprovalRow,
  approvalRows,
  type ApprovalState,
  type ChangeCard,
  changeCards,
  isGiven,
} from 'computation-management-words';
import type { Overview } from '../loading/overview.ts';
import { type Column, FactTable } from '../lists/columns.tsx';
import { useAction } from '../loading/use-action.ts';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { addressOf } from '../routing/places.ts';
import { StatusIndicator } from '../show/status.tsx';
import { Term } from '../show/term.tsx';
import { Ago, Moment, Time } from '../show/time.tsx';
import { Names, Quote, User } from '../show/visible-texts.tsx';
import { mayApprove } from './approval.ts';
import { Refuse } from './refuse.tsx';
import { useLoaded } from '../loading/use-loaded.ts';

const looks: Record<ApprovalState, { type: StatusIndicatorProps.Type; text: string }> = {
  missing: { type: 'pending', text: 'Missing' },
  given: { type: 'success', text: 'Given' },
  signed: { type: 'success', text: 'Given and signed' },
  unsigned: { type: 'warning', text: 'Given without a signature' },
  stale: { type: 'warning', text: 'Stale: no longer counts' },
};

interface Props {
  overview: Overview;
  reload: () => void;
}

/** Shows whose approval a run of a computation needs, and who has given it. */
export function ApprovalsPanel({ overview, reload }: Props) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const [dialog, setDialog] = useState<'withdraw' | 'refuse'>();
  const { computation, approvals, digest } = overview;
  const refusals = new Map(approvals.refusals.map((refusal) => [refusal.user, refusal]));
  const rows = approvalRows(approvals);
  for (const user of refusals.keys()) {
    if (!rows.some((row) => row.user === user)) rows.push({ user, because: [], state: 'missing', approval: undefined });
  }
  const needed = rows.filter(({ because }) => because.length > 0);
  const changes = useChanges(computation, approvals.approvals);
  const hasDecided = refusals.has(me.user) || approvals.approvals.some(({ user }) => user === me.user);
  const decision = refusals.has(me.user) ? 'refusal' : 'approval';
  const withdraw = useAction(async () => {
    await client.withdrawApproval({ id: computation.id });
    notify(`You have withdrawn your ${decision}.`);
    setDialog(undefined);
    reload();
  });
  const columns: Column<ApprovalRow>[] = [
    { id: 'user', header: 'User', isRowHeader: true, cell: ({ user }) => <User of={user} /> },
    {
      id: 'because',
      header: 'Needed for',
      isSecondary: true,
      cell: ({ because }) => (because.length > 0 ? <Names of={because} /> : 'Not needed'),
    },
    {
      id: 'state',
      header: 'State',
      minWidth: 190,
      cell: ({ state, user }) => {
        const refusal = refusals.get(user);
        return refusal ? (
          <>
            <StatusIndicator type="error">Refused</StatusIndicator>
            <div>
              Reason: <Quote of={refusal.reason} />
            </div>
            <Ago at={refusal.refused_at} />
          </>
        ) : (
          <>
            <StatusIndicator type={looks[state].type}>{looks[state].text}</StatusIndicator>
            <Changes of={changes.get(user) ?? []} />
          </>
        );
      },
    },
    {
      id: 'limits',
      header: 'Given',
      isSecondary: true,
      cell: ({ approval }) => (approval ? <Given {...approval} /> : '-'),
    },
  ];
  return (
    <>
      <FactTable
        title="Approvals"
        {...(needed.length > 0 && { counter: `(${needed.filter(isGiven).length} of ${needed.length})` })}
        description={
          <>
            An approval covers one manifest and one configuration. A change makes it stale.
            <Term of="stale" />
          </>
        }
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            {hasDecided && <Button onClick={() => setDialog('withdraw')}>Withdraw</Button>}
            {(mayApprove(me.user, overview) || computation.providers.includes(me.user)) && (
              <Button onClick={() => setDialog('refuse')}>Refuse</Button>
            )}
            {mayApprove(me.user, overview) && (
              <Button
                href={addressOf({ screen: 'approve', domain, id: computation.id })}
                disabled={digest === undefined}
                disabledReason="There is no manifest yet: a part of it is missing."
              >
                Review and approve
              </Button>
            )}
          </SpaceBetween>
        }
        items={rows}
        rowKey={({ user }) => user}
        columns={columns}
        empty={
          computation.approval === 'none'
            ? 'A run needs no approval, and nobody has given one.'
            : 'Whose approval a run needs is known once assets are linked and keys uploaded.'
        }
      />
      {dialog === 'withdraw' && (
        <ConfirmModal
          title={`Withdraw your ${decision}`}
          confirm="Withdraw"
          action={withdraw}
          onClose={() => setDialog(undefined)}
        >
          No run that needs your approval starts without it. An active run goes on.
        </ConfirmModal>
      )}
      {dialog === 'refuse' && (
        <Refuse
          id={computation.id}
          onClose={() => setDialog(undefined)}
          onRefused={() => {
            setDialog(undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

function Given({ approved_at, cvm_ids, expires_at }: Schemas['Approval']) {
  return (
    <>
      <Moment at={approved_at} />
      <Limits cvm_ids={cvm_ids} expires_at={expires_at} />
    </>
  );
}

/** Shows on which CVMs and until when an approval counts. Shows nothing for an approval without limits. */
export function Limits({ cvm_ids, expires_at }: Pick<Schemas['Approval'], 'cvm_ids' | 'expires_at'>) {
  return (
    <>
      {cvm_ids?.length ? (
        <div>
          Only on <Names of={cvm_ids} />
        </div>
      ) : null}
      {expires_at !== null && (
        <div>
          Until <Time at={expires_at} />
        </div>
      )}
    </>
  );
}

type Approval = Schemas['Approval'];

/** The number of a computation's latest events that are searched for who made a change. A change before them is told without a name. */
const latestEvents = 100;

/** Describes the changes that made approvals stale, by the user who approved: who changed what, as far as the journal tells. */
export function useChanges(
  computation: Schemas['Computation'],
  approvals: readonly Approval[],
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

/** Shows a sentence for each change of what an approval covers, with how long ago the change was made. */
export function Changes({ of }: { of: readonly ChangeCard[] }) {
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
