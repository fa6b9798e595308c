import { Badge, Button, CopyToClipboard, type StatusIndicatorProps } from '@cloudscape-design/components';
import { approvalRows, type ApprovalState } from 'computation-management-words';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { assetTypeText } from '../assets/asset-texts.ts';
import { mayApprove } from '../approvals/approval.ts';
import { Changes, useChanges } from '../approvals/changes.tsx';
import { Limits } from '../approvals/limits.tsx';
import { Refuse } from '../approvals/refuse.tsx';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { RemoveKey, UploadKey } from '../keys/key-dialogs.tsx';
import { type Column, FactTable } from '../lists/columns.tsx';
import type { Overview, Party } from '../loading/overview.ts';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { StatusIndicator } from '../show/status.tsx';
import { Term } from '../show/term.tsx';
import { Moment } from '../show/time.tsx';
import { Name, Quote, User } from '../show/visible-texts.tsx';
import { expectedOf, invitationText } from './invitation.ts';

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

/** Shows the people of a computation, also those who are only named: what each brings, and the state of the key and the approval of each. */
export function PeoplePanel({ overview, reload }: Props) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const [dialog, setDialog] = useState<'upload' | 'remove' | 'withdraw' | 'refuse'>();
  const { parties, hasMyKey, computation, approvals, digest } = overview;
  const { id } = computation;
  const rows = new Map(approvalRows(approvals).map((row) => [row.user, row]));
  const changes = useChanges(computation, approvals.approvals);
  const hasDecided = [...approvals.approvals, ...approvals.refusals].some(({ user }) => user === me.user);
  const close = () => setDialog(undefined);
  const done = () => {
    close();
    reload();
  };
  const withdraw = useAction(async () => {
    await client.withdrawApproval({ id });
    notify('You have withdrawn your approval.');
    done();
  });
  const columns: Column<Party>[] = [
    {
      id: 'user',
      header: 'Person',
      isRowHeader: true,
      minWidth: 150,
      cell: ({ user, isInvited }) => (
        <>
          <User of={user} /> {user === me.user && <Badge color="blue">you</Badge>} {isInvited && <Badge>invited</Badge>}
        </>
      ),
    },
    {
      id: 'brings',
      header: 'Brings',
      isSecondary: true,
      minWidth: 150,
      cell: ({ files, parts }) => (
        <>
          {parts
            .filter((part) => part !== 'provider' || files.length === 0)
            .map((part) => (
              <div key={part}>{texts[part]}</div>
            ))}
          {files.map(({ asset_type, file_name }) => (
            <div key={asset_type + file_name}>
              {assetTypeText(asset_type)} <Name of={file_name} />
            </div>
          ))}
        </>
      ),
    },
    {
      id: 'key',
      header: 'Key',
      isSecondary: true,
      cell: ({ owes, isInvited }) =>
        isInvited ? (
          '-'
        ) : owes.some(({ kind }) => kind === 'key') ? (
          <StatusIndicator type="pending">Missing</StatusIndicator>
        ) : (
          <StatusIndicator type="success">Nothing missing</StatusIndicator>
        ),
    },
    {
      id: 'approval',
      header: 'Approval',
      isSecondary: true,
      minWidth: 190,
      cell: ({ user, refusal }) => {
        const row = rows.get(user);
        if (refusal) {
          return (
            <>
              <StatusIndicator type="error">Refused</StatusIndicator> <Quote of={refusal.reason} />
              <Moment at={refusal.refused_at} />
            </>
          );
        }
        if (!row) return 'Not needed';
        return (
          <>
            <StatusIndicator type={looks[row.state].type}>{looks[row.state].text}</StatusIndicator>
            {row.because.length === 0 && ' (not needed)'}
            <Changes of={changes.get(user) ?? []} />
            {row.approval && (
              <>
                <Moment at={row.approval.approved_at} />
                <Limits {...row.approval} />
              </>
            )}
          </>
        );
      },
    },
    {
      id: 'invitation',
      header: 'Invitation',
      cell: (party) =>
        party.user === me.user || expectedOf(party).length === 0 ? (
          '-'
        ) : (
          <CopyToClipboard
            copyButtonText={party.isInvited ? 'Copy invitation' : 'Copy reminder'}
            textToCopy={invitationText(
              computation,
              party,
              new URL(addressOf({ screen: 'computation', domain, id }), location.href).href,
            )}
            copyButtonAriaLabel={`Copy ${party.isInvited ? 'invitation' : 'reminder'} for ${party.user}`}
            copySuccessText="Copied"
            copyErrorText="Not copied"
          />
        ),
    },
  ];
  return (
    <>
      <FactTable
        title="People"
        counter={`(${parties.length})`}
        description={
          <>
            An approval covers one manifest and one configuration. A change makes it stale.
            <Term of="stale" />
          </>
        }
        actions={
          <div className="row">
            <StatusIndicator type={hasMyKey ? 'success' : 'pending'}>
              {hasMyKey ? 'Your public key is here' : 'Your public key is missing'}
            </StatusIndicator>
            <Button onClick={() => setDialog('upload')}>{hasMyKey ? 'Replace key' : 'Upload key'}</Button>
            {(hasMyKey || permissions.removeKeys(me, computation)) && (
              <Button onClick={() => setDialog('remove')}>Remove key</Button>
            )}
            {hasDecided && <Button onClick={() => setDialog('withdraw')}>Withdraw</Button>}
            {parties.some(({ user }) => user === me.user) && <Button onClick={() => setDialog('refuse')}>Refuse</Button>}
            {mayApprove(me.user, overview) && (
              <Button
                href={addressOf({ screen: 'approve', domain, id })}
                disabled={digest === undefined}
                disabledReason="There is no manifest yet: a part of it is missing."
              >
                Review and approve
              </Button>
            )}
          </div>
        }
        items={parties}
        rowKey={({ user }) => user}
        columns={columns}
      />
      {dialog === 'upload' && <UploadKey id={id} onClose={close} onUploaded={done} />}
      {dialog === 'remove' && <RemoveKey computation={computation} onClose={close} onRemoved={done} />}
      {dialog === 'refuse' && <Refuse id={id} onClose={close} onRefused={done} />}
      {dialog === 'withdraw' && (
        <ConfirmModal title="Withdraw your approval or refusal" confirm="Withdraw" action={withdraw} onClose={close}>
          No run that needs your approval starts then. An active run goes on.
        </ConfirmModal>
      )}
    </>
  );
}

const texts: Record<Party['parts'][number], string> = {
  owner: 'Owner',
  provider: 'A file, not linked yet',
  consumer: 'Receives the results',
  reviewer: 'Reviews the result',
};
