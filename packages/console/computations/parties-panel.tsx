import Alert from '@cloudscape-design/components/alert';
import Badge from '@cloudscape-design/components/badge';
import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import Header from '@cloudscape-design/components/header';
import SpaceBetween from '@cloudscape-design/components/space-between';
import Table from '@cloudscape-design/components/table';
import { useState } from 'react';
import { useDomain } from '../access/console-context.ts';
import { permissions } from '../access/permissions.ts';
import { RemoveKey } from '../keys/remove-key.tsx';
import { UploadKey } from '../keys/upload-key.tsx';
import { type Column, definitionsOf, useNarrow } from '../lists/columns.tsx';
import type { Overview, Party } from '../loading/overview.ts';
import { Name, Names } from '../show/visible-texts.tsx';
import { StatusIndicator } from '../show/status.tsx';
import { DebtText, neededText } from './debts.tsx';

interface Props {
  overview: Overview;
  reload: () => void;
}

/** Who takes part, and what each still owes before a run. */
export function PartiesPanel({ overview, reload }: Props) {
  const { me } = useDomain();
  const isNarrow = useNarrow();
  const [dialog, setDialog] = useState<'upload' | 'remove'>();
  const { parties, others, isReady, hasMyKey, computation } = overview;
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
    {
      id: 'owes',
      header: 'Still owes',
      minWidth: 150,
      cell: ({ owes }) =>
        owes.length === 0 ? (
          <StatusIndicator type="success">Nothing</StatusIndicator>
        ) : (
          <SpaceBetween size="xxs">
            {owes.map((debt) => (
              <StatusIndicator key={JSON.stringify(debt)} type="pending">
                <span className="long-words">
                  <DebtText debt={debt} />
                </span>
              </StatusIndicator>
            ))}
          </SpaceBetween>
        ),
    },
  ];
  return (
    <>
      <Table
        header={
          <Header
            variant="h2"
            counter={`(${parties.length})`}
            description={isReady ? 'Nothing is missing. A run can start.' : 'A run can start when nobody owes anything.'}
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
        footer={
          others.length > 0 && (
            <Alert type="warning" header="Also missing">
              <Box variant="span">{others.map(neededText).join('. ')}.</Box>
            </Alert>
          )
        }
      />
      {dialog === 'upload' && <UploadKey id={computation.id} onClose={close} onUploaded={done} />}
      {dialog === 'remove' && <RemoveKey computation={computation} onClose={close} onRemoved={done} />}
    </>
  );
}
