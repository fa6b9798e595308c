import Alert from '@cloudscape-design/components/alert';
import Box from '@cloudscape-design/components/box';
import Button from '@cloudscape-design/components/button';
import Header from '@cloudscape-design/components/header';
import Link from '@cloudscape-design/components/link';
import Table from '@cloudscape-design/components/table';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { UploadKey } from '../keys/upload-key.tsx';
import { type Column, definitionsOf, useNarrow } from '../lists/columns.tsx';
import { LoadedView } from '../loading/problem-alert.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { Texts } from '../show/visible-texts.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';

/** What waits for the user: approvals, keys and content. */
export function TodoScreen() {
  const { client, domain } = useDomain();
  const loaded = useLoaded(domain, (signal) => client.getTodo({ signal }), { everySeconds: refreshSeconds.todo });
  return (
    <ScreenFrame
      title="To do"
      description="What you still need to do before runs can start."
      above={[]}
      actions={<Button iconName="refresh" ariaLabel="Refresh" loading={loaded.isLoading} onClick={loaded.reload} />}
    >
      <LoadedView loaded={loaded} what="what waits for you">
        {(todo) =>
          todo.approvals.length + todo.keys.length + todo.content.length === 0 && !todo.truncated ? (
            <Alert type="success" header="Nothing waits for you">
              You will find here what needs your approval, your public key or your content.
            </Alert>
          ) : (
            <>
              <ApprovalsToGive {...todo} />
              <KeysToUpload {...todo} reload={loaded.reload} />
              <ContentToUpload {...todo} />
            </>
          )
        }
      </LoadedView>
    </ScreenFrame>
  );
}

interface TaskTableProps<T> {
  columnDefinitions: Column<T>[];
  title: string;
  items: T[];
  /** null if there may be more than were examined. */
  total: number | null;
  trackBy: keyof T & string;
  /** Shown if there are no items. */
  nothing: string;
}

function TaskTable<T>({ title, items, total, trackBy, nothing, columnDefinitions }: TaskTableProps<T>) {
  const isNarrow = useNarrow();
  return (
    <Table
      header={
        <Header variant="h2" counter={`(${total ?? `${items.length}+`})`}>
          {title}
        </Header>
      }
      ariaLabels={{ tableLabel: title }}
      items={items}
      trackBy={trackBy}
      wrapLines
      columnDefinitions={definitionsOf(columnDefinitions, isNarrow)}
      empty={<Box textAlign="center">{nothing}</Box>}
      footer={total !== items.length && `The first ${items.length} are shown. Others may follow as these are done.`}
    />
  );
}

function ApprovalsToGive({ approvals, totals }: Schemas['Todo']) {
  const { domain } = useDomain();
  return (
    <TaskTable
      title="Approvals to give"
      items={approvals}
      total={totals.approvals}
      trackBy="computation_id"
      columnDefinitions={[
        {
          id: 'name',
          header: 'Computation',
          isRowHeader: true,
          cell: ({ computation_id: id, name }) => <Link href={addressOf({ screen: 'computation', domain, id })}>{name}</Link>,
        },
        { id: 'because', header: 'Needed for', isSecondary: true, cell: ({ because }) => <Texts of={because} /> },
        {
          id: 'action',
          header: 'Action',
          cell: ({ computation_id: id, name }) => (
            <Button
              variant="inline-link"
              href={addressOf({ screen: 'approve', domain, id })}
              ariaLabel={`Review and approve ${name}`}
            >
              Review and approve
            </Button>
          ),
        },
      ]}
      nothing="No manifest waits for your approval."
    />
  );
}

function KeysToUpload({ keys, totals, reload }: Schemas['Todo'] & { reload: () => void }) {
  const { domain } = useDomain();
  const [chosen, setChosen] = useState<string>();
  return (
    <>
      <TaskTable
        title="Keys to upload"
        items={keys}
        total={totals.keys}
        trackBy="computation_id"
        columnDefinitions={[
          {
            id: 'name',
            header: 'Computation',
            isRowHeader: true,
            cell: ({ computation_id: id, name }) => <Link href={addressOf({ screen: 'computation', domain, id })}>{name}</Link>,
          },
          {
            id: 'action',
            header: 'Action',
            cell: ({ computation_id, name }) => (
              <Button variant="inline-link" ariaLabel={`Upload key to ${name}`} onClick={() => setChosen(computation_id)}>
                Upload key
              </Button>
            ),
          },
        ]}
        nothing="No computation waits for your key."
      />
      {chosen !== undefined && (
        <UploadKey
          id={chosen}
          onClose={() => setChosen(undefined)}
          onUploaded={() => {
            setChosen(undefined);
            reload();
          }}
        />
      )}
    </>
  );
}

function ContentToUpload({ content, totals }: Schemas['Todo']) {
  const { domain } = useDomain();
  return (
    <TaskTable
      title="Content to upload"
      items={content}
      total={totals.content}
      trackBy="asset_id"
      columnDefinitions={[
        {
          id: 'file',
          header: 'File',
          isRowHeader: true,
          cell: ({ asset_id: id, file_name }) => <Link href={addressOf({ screen: 'asset', domain, id })}>{file_name}</Link>,
        },
        {
          id: 'action',
          header: 'Action',
          cell: ({ asset_id: id, file_name }) => (
            <Button
              variant="inline-link"
              href={addressOf({ screen: 'asset', domain, id })}
              ariaLabel={`Upload content of ${file_name}`}
            >
              Upload content
            </Button>
          ),
        },
      ]}
      nothing="All your assets have their content."
    />
  );
}
