import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import Header from '@cloudscape-design/components/header';
import SpaceBetween from '@cloudscape-design/components/space-between';
import type { StatusIndicatorProps } from '@cloudscape-design/components/status-indicator';
import Table from '@cloudscape-design/components/table';
import { useState } from 'react';
import type { Overview } from '../loading/overview.ts';
import { type Column, definitionsOf, useNarrow } from '../lists/columns.tsx';
import { useAction } from '../loading/use-action.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useDomain, useFrame } from '../access/console-context.ts';
import { momentText } from '../show/texts.ts';
import { Texts } from '../show/visible-texts.tsx';
import { StatusIndicator } from '../show/status.tsx';
import { type ApprovalRow, approvalRows, type ApprovalState, mayApprove } from './approval.ts';
import { Approve } from './approve.tsx';

const looks: Record<ApprovalState, { type: StatusIndicatorProps.Type; text: string }> = {
  missing: { type: 'pending', text: 'Missing' },
  given: { type: 'success', text: 'Given' },
  signed: { type: 'success', text: 'Given and signed' },
  unsigned: { type: 'warning', text: 'Given without a signature' },
  stale: { type: 'warning', text: 'Stale: no longer counts' },
};

const columns: Column<ApprovalRow>[] = [
  { id: 'user', header: 'User', isRowHeader: true, cell: ({ user }) => user },
  {
    id: 'because',
    header: 'Needed for',
    isSecondary: true,
    cell: ({ because }) => (because.length > 0 ? <Texts of={because} /> : 'Not needed'),
  },
  {
    id: 'state',
    header: 'State',
    minWidth: 130,
    cell: ({ state }) => <StatusIndicator type={looks[state].type}>{looks[state].text}</StatusIndicator>,
  },
  {
    id: 'limits',
    header: 'Given',
    isSecondary: true,
    cell: ({ approval }) =>
      approval
        ? [
            momentText(approval.approved_at),
            ...(approval.cvm_ids?.length ? [`on ${approval.cvm_ids.join(', ')} only`] : []),
            ...(approval.expires_at === null ? [] : [`until ${momentText(approval.expires_at)}`]),
          ].join(', ')
        : '-',
  },
];

interface Props {
  overview: Overview;
  reload: () => void;
}

/** Whose approval a run needs, who has given it, and the user's own. */
export function ApprovalsPanel({ overview, reload }: Props) {
  const { client, me } = useDomain();
  const { notify } = useFrame();
  const isNarrow = useNarrow();
  const [isApproving, setApproving] = useState(false);
  const { computation, approvals, digest } = overview;
  const rows = approvalRows(computation.approval, approvals);
  const hasGiven = approvals.approvals.some(({ user }) => user === me.user);
  const withdraw = useAction(async () => {
    await client.withdrawApproval({ id: computation.id });
    notify('You have withdrawn your approval.');
    reload();
  });
  return (
    <SpaceBetween size="s">
      <ProblemAlert problem={withdraw.problem} />
      <Table
        header={
          <Header
            variant="h2"
            counter={`(${rows.length})`}
            description="An approval covers one manifest and one configuration. A change makes it stale."
            actions={
              <SpaceBetween direction="horizontal" size="xs">
                {hasGiven && (
                  <Button loading={withdraw.isRunning} onClick={() => void withdraw.run()}>
                    Withdraw
                  </Button>
                )}
                {mayApprove(me.user, overview) && (
                  <Button
                    variant={needsMe(rows, me.user) ? 'primary' : 'normal'}
                    disabled={digest === undefined}
                    disabledReason="There is no manifest yet: a part of it is missing."
                    onClick={() => setApproving(true)}
                  >
                    Approve
                  </Button>
                )}
              </SpaceBetween>
            }
          >
            Approvals
          </Header>
        }
        ariaLabels={{ tableLabel: 'Approvals' }}
        items={rows}
        trackBy="user"
        wrapLines
        columnDefinitions={definitionsOf(columns, isNarrow)}
        empty={
          <Box textAlign="center">
            {computation.approval === 'none'
              ? 'A run needs no approval, and nobody has given one.'
              : 'Whose approval a run needs is known once assets are linked and keys uploaded.'}
          </Box>
        }
      />
      {isApproving && (
        <Approve
          computation={computation}
          onClose={() => setApproving(false)}
          onApproved={() => {
            setApproving(false);
            reload();
          }}
        />
      )}
    </SpaceBetween>
  );
}

function needsMe(rows: ApprovalRow[], me: string): boolean {
  return rows.some(({ user, because, state }) => user === me && because.length > 0 && state !== 'given' && state !== 'signed');
}
