import { FormField, Textarea } from '@cloudscape-design/components';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';

interface Props {
  /** The identifier of the computation that the user refuses to approve. */
  id: string;
  onClose: () => void;
  onRefused: () => void;
}

/** Shows a dialog that refuses to approve, with a reason that all parties read. */
export function Refuse({ id, onClose, onRefused }: Props) {
  const { client } = useDomain();
  const { notify } = useFrame();
  const [reason, setReason] = useState('');
  const refuse = useAction(async () => {
    await client.approve({ id, body: { decision: 'refuse', reason } });
    notify('You have refused. All parties see your reason.');
    onRefused();
  });
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
      <FormField
        label="Reason"
        description="All parties see it. It replaces an approval of yours, and ends when you approve or withdraw it."
        constraintText="1 to 1,000 characters."
        errorText={errors.at('/reason')}
        stretch
      >
        <Textarea value={reason} rows={4} onChange={({ detail }) => setReason(detail.value)} />
      </FormField>
    </ConfirmModal>
  );
}
