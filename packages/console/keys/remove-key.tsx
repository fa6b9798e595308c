import { FormField, Input } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain, useFrame } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { ConfirmModal } from '../frame/confirm-modal.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { useAction } from '../loading/use-action.ts';

interface Props {
  computation: Schemas['Computation'];
  onClose: () => void;
  onRemoved: () => void;
}

/** Removes the user's own public key. The owner and administrators can name another user. */
export function RemoveKey({ computation, onClose, onRemoved }: Props) {
  const { client, me } = useDomain();
  const { notify } = useFrame();
  const [user, setUser] = useState(me.user);
  const remove = useAction(async () => {
    await client.removeKey({ id: computation.id, ...(user !== me.user && { user }) });
    notify('The public key is removed.');
    onRemoved();
  });
  const errors = fieldErrors(remove.problem, ['query/user']);
  return (
    <ConfirmModal
      title="Remove a public key"
      confirm="Remove"
      action={remove}
      fields={errors.fields}
      isDisabled={user.trim() === ''}
      onClose={onClose}
    >
      <FormField label="Whose key" errorText={errors.at('query/user')}>
        <Input
          value={user}
          disabled={!permissions.removeKeys(me, computation)}
          onChange={({ detail }) => setUser(detail.value)}
        />
      </FormField>
      An approval of this user goes with the key. An active run keeps its manifest.
    </ConfirmModal>
  );
}
