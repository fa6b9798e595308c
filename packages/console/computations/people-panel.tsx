import { Badge, Button, CopyToClipboard } from '@cloudscape-design/components';
import { approvalRows, type ApprovalState } from 'computation-management-words';
import { permissions, useDomain } from '../access/index.ts';
import { assetTypeText } from '../assets/asset-texts.ts';
import { mayApprove } from '../approvals/approval.ts';
import { Change, useChanges } from '../approvals/changes.tsx';
import { Limits } from '../approvals/limits.tsx';
import { Refuse } from '../approvals/refuse.tsx';
import { ConfirmModal, useAsked } from '../frame/index.ts';
import { RemoveKey, UploadKey } from '../keys/key-dialogs.tsx';
import { type Column, FactTable } from '../lists/index.ts';
import { type Overview, type Party, useChange } from '../loading/index.ts';
import { addressOf } from '../routing/index.ts';
import { Bullets, type Look, Looking, Moment, Name, Quote, StatusIndicator, Term, User } from '../show/index.ts';
import { expectedOf, invitationText } from './invitation.ts';

const looks: Record<ApprovalState, Look> = {
  missing: { type: 'pending', text: 'Missing' },
  given: { type: 'success', text: 'Given' },
  signed: { type: 'success', text: 'Given and signed' },
  unsigned: { type: 'warning', text: 'Given without a signature' },
  stale: { type: 'warning', text: 'Stale: no longer counts' },
};

/** Shows the people of a computation, also those who are only named: what each brings, and the state of the key and the approval of each. */
export function PeoplePanel({ overview, reload }: { overview: Overview; reload: () => void }) {
  const { client, domain, me } = useDomain();
  const { asked, setAsked, dialog } = useAsked<'upload' | 'remove' | 'withdraw' | 'refuse'>(reload);
  const { parties, hasMyKey, computation, approvals, digest } = overview;
  const { id } = computation;
  const rows = new Map(approvalRows(approvals).map((row) => [row.user, row]));
  const changes = useChanges(computation, approvals.approvals);
  const hasDecided = [...approvals.approvals, ...approvals.refusals].some(({ user }) => user === me.user);
  const withdraw = useChange(() => client.withdrawApproval({ id }), 'You have withdrawn your approval.', dialog.onDone);
  const columns: Column<Party>[] = [
    {
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
      header: 'Brings',
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
      header: 'Key',
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
      header: 'Approval',
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
            <Looking like={looks[row.state]} />
            {row.because.length === 0 && ' (not needed)'}
            <Bullets
              className="long-words"
              of={changes.get(user)?.map((change, index) => <Change key={index} of={change} />) ?? []}
            />
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
      header: 'Invitation',
      isPrimary: true,
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
            <Button onClick={() => setAsked('upload')}>{hasMyKey ? 'Replace key' : 'Upload key'}</Button>
            {(hasMyKey || permissions.removeKeys(me, computation)) && (
              <Button onClick={() => setAsked('remove')}>Remove key</Button>
            )}
            {hasDecided && <Button onClick={() => setAsked('withdraw')}>Withdraw</Button>}
            {parties.some(({ user }) => user === me.user) && <Button onClick={() => setAsked('refuse')}>Refuse</Button>}
            {mayApprove(me.user, parties) && (
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
      {asked === 'upload' && <UploadKey id={id} {...dialog} />}
      {asked === 'remove' && <RemoveKey computation={computation} {...dialog} />}
      {asked === 'refuse' && <Refuse id={id} {...dialog} />}
      {asked === 'withdraw' && (
        <ConfirmModal title="Withdraw your approval or refusal" confirm="Withdraw" action={withdraw} onClose={dialog.onClose}>
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
