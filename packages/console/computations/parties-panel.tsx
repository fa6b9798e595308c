import { Badge, Button, Header, SpaceBetween, Table } from '@cloudscape-design/components';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { RemoveKey } from '../keys/remove-key.tsx';
import { UploadKey } from '../keys/upload-key.tsx';
import { type Column, definitionsOf, useNarrow } from '../lists/columns.tsx';
import type { Overview, Party } from '../loading/overview.ts';
import { Name, Names } from '../show/visible-texts.tsx';
import { StatusIndicator } from '../show/status.tsx';

interface Props {
  overview: Overview;
  reload: () => void;
}

/** Who takes part. */
export function PartiesPanel({ overview, reload }: Props) {
  const { me } = useDomain();
  const isNarrow = useNarrow();
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
      <Table
        header={
          <Header
            variant="h2"
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
          >
            Parties
          </Header>
        }
        ariaLabels={{ tableLabel: 'Parties' }}
        items={parties}
        trackBy="user"
        wrapLines
        columnDefinitions={definitionsOf(columns, isNarrow)}
      />
      {dialog === 'upload' && <UploadKey id={computation.id} onClose={close} onUploaded={done} />}
      {dialog === 'remove' && <RemoveKey computation={computation} onClose={close} onRemoved={done} />}
    </>
  );
}
