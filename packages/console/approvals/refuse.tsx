import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { ConfirmModal, type DialogProps, TextField } from '../frame/index.ts';
import { fieldErrors, useChange } from '../loading/index.ts';

/** Shows a dialog that refuses to approve a computation, with a reason that all parties read. */
export function Refuse({ id, onClose, onDone }: DialogProps & { id: string }) {
  const { client } = useDomain();
  const [reason, setReason] = useState('');
  const refuse = useChange(
    () => client.approve({ id, body: { decision: 'refuse', reason } }),
    'You have refused. All parties see your reason.',
    onDone,
  );
  const errors = fieldErrors(refuse.problem, ['/reason']);
  return (
    <ConfirmModal
      title="Refuse to approve"
      confirm="Refuse"
      action={refuse}
      fields={errors.fields}
      obstacle={reason.trim() === '' ? 'Give a reason first: all parties see it.' : undefined}
      onClose={onClose}
    >
      <TextField
        label="Reason"
        description="All parties see it. It replaces an approval of yours, and ends when you approve or withdraw it."
        constraintText="1 to 1,000 characters."
        errorText={errors.at('/reason')}
        stretch
        rows={4}
        text={[reason, setReason]}
      />
    </ConfirmModal>
  );
}
