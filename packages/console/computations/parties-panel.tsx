import { Badge, Button, SpaceBetween } from '@cloudscape-design/components';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { type Column, FactTable } from '../lists/columns.tsx';
import type { Overview, Party } from '../loading/overview.ts';
import { Name, Names } from '../show/visible-texts.tsx';
import { StatusIndicator } from '../show/status.tsx';
import { RemoveKey, UploadKey } from '../keys/key-dialogs.tsx';

interface Props {
  overview: Overview;
  reload: () => void;
}

/** Shows who takes part in a computation. */
export function PartiesPanel({ overview, reload }: Props) {
  const { me } = useDomain();
  const [dialog, setDialog] = useState<'upload' | 'remove'>();
  const { parties, hasMyKey, computation } = overview;
  const close = () => setDialog(undefined);
  const done = () => {
    close();
    reload();
  };
  const columns: Column<Party>[] = [
    {
      id: 'user',
      header: 'User',
      isRowHeader: true,
      cell: ({ user }) => (
        <>
          <Name of={user} /> {user === me.user && <Badge color="blue">you</Badge>}
        </>
      ),
    },
    {
      id: 'parts',
      header: 'Takes part with',
      isSecondary: true,
      cell: ({ parts }) => (parts.length > 0 ? <Names of={parts} /> : '-'),
    },
  ];
  return (
    <>
      <FactTable
        title="Parties"
        counter={`(${parties.length})`}
        actions={
          <SpaceBetween direction="horizontal" size="xs" alignItems="center">
            <StatusIndicator type={hasMyKey ? 'success' : 'pending'}>
              {hasMyKey ? 'Your public key is here' : 'Your public key is missing'}
            </StatusIndicator>
            <Button onClick={() => setDialog('upload')}>{hasMyKey ? 'Replace key' : 'Upload key'}</Button>
            {(hasMyKey || permissions.removeKeys(me, computation)) && (
              <Button onClick={() => setDialog('remove')}>Remove key</Button>
            )}
          </SpaceBetween>
        }
        items={parties}
        rowKey={({ user }) => user}
        columns={columns}
      />
      {dialog === 'upload' && <UploadKey id={computation.id} onClose={close} onUploaded={done} />}
      {dialog === 'remove' && <RemoveKey computation={computation} onClose={close} onRemoved={done} />}
    </>
  );
}
