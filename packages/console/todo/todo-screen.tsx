import { Alert, Button, type ButtonProps, Link } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useMemo, useState } from 'react';
import { type Column, FactTable } from '../lists/columns.tsx';
import { LoadedView } from '../loading/problem-alert.tsx';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { expectedOf } from '../computations/invitation.ts';
import { useRows } from '../runs/computation-rows.ts';
import { Ago } from '../show/time.tsx';
import { Names, User } from '../show/visible-texts.tsx';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { UploadKey } from '../keys/key-dialogs.tsx';

/** Shows what waits for the user: approvals, keys and content, and who invites the user or refuses. */
export function TodoScreen() {
  const { client, domain } = useDomain();
  const [chosen, setChosen] = useState<string>();
  const ofComputation = {
    header: 'Computation',
    name: ({ name }: { name: string }) => name,
    href: ({ computation_id: id }: { computation_id: string }) => addressOf({ screen: 'computation', domain, id }),
  };
  const loaded = useLoaded(domain, (signal) => client.getTodo({ signal }), { everySeconds: refreshSeconds.todo });
  const { value } = loaded;
  const ids = useMemo(
    () => value && [...value.approvals, ...value.keys, ...value.invitations].map(({ computation_id }) => computation_id),
    [value],
  );
  const rows = useRows(ids);
  const from: Column<{ computation_id: string }>[] = [
    { id: 'owner', header: 'Owner', isSecondary: true, cell: ({ computation_id: id }) => owner(rows.get(id)) },
    {
      id: 'since',
      header: 'Last change',
      isSecondary: true,
      cell: ({ computation_id: id }) => change(rows.get(id)),
    },
  ];
  return (
    <ScreenFrame
      title="To do"
      description="What you still need to do before runs can start."
      above={[]}
      actions={<Button iconName="refresh" ariaLabel="Refresh" loading={loaded.isLoading} onClick={loaded.reload} />}
    >
      <LoadedView loaded={loaded} what="what waits for you">
        {(todo) =>
          Object.values(todo.totals).every((total) => total === 0) ? (
            <Alert type="success" header="Nothing waits for you">
              You will find here what needs your approval, your public key or your content, who invites you, and who refuses.
            </Alert>
          ) : (
            <>
              <TaskTable
                title="Approvals to give"
                items={todo.approvals}
                total={todo.totals.approvals}
                rowKey={({ computation_id }) => computation_id}
                nothing="No manifest waits for your approval."
                {...ofComputation}
                action="Review and approve"
                act={({ computation_id: id }) => ({ href: addressOf({ screen: 'approve', domain, id }) })}
                more={[
                  { id: 'because', header: 'Needed for', isSecondary: true, cell: ({ because }) => <Names of={because} /> },
                  ...from,
                ]}
              />
              {todo.refusals.length > 0 && (
                <TaskTable
                  title="Refusals in your computations"
                  items={todo.refusals}
                  total={todo.totals.refusals}
                  rowKey={({ computation_id, user }) => `${computation_id} ${user}`}
                  nothing="Nobody refuses."
                  {...ofComputation}
                  action="Read why in"
                  act={({ computation_id: id }) => ({ href: addressOf({ screen: 'computation', domain, id }) })}
                  more={[{ id: 'user', header: 'Refused by', isSecondary: true, cell: ({ user }) => <User of={user} /> }]}
                />
              )}
              <TaskTable
                title="Keys to upload"
                items={todo.keys}
                total={todo.totals.keys}
                rowKey={({ computation_id }) => computation_id}
                nothing="No computation waits for your key."
                {...ofComputation}
                action="Upload key to"
                act={({ computation_id }) => ({ onClick: () => setChosen(computation_id) })}
                more={from}
              />
              <TaskTable
                title="Content to upload"
                items={todo.content}
                total={todo.totals.content}
                rowKey={({ asset_id }) => asset_id}
                nothing="All your assets have their content."
                header="File"
                name={({ file_name }) => file_name}
                href={({ asset_id: id }) => addressOf({ screen: 'asset', domain, id })}
                action="Upload content of"
                act={({ asset_id: id }) => ({ href: addressOf({ screen: 'asset', domain, id }) })}
              />
              {todo.invitations.length > 0 && (
                <TaskTable
                  title="Invitations"
                  items={todo.invitations}
                  total={todo.totals.invitations}
                  rowKey={({ computation_id }) => computation_id}
                  nothing="Nobody invites you."
                  {...ofComputation}
                  action="Open"
                  act={({ computation_id: id }) => ({ href: addressOf({ screen: 'computation', domain, id }) })}
                  more={[
                    {
                      id: 'expected',
                      header: 'Expected of you',
                      isSecondary: true,
                      cell: ({ expected: parts }) => expectedOf({ parts, isInvited: true, owes: [] }).join('; '),
                    },
                    ...from,
                  ]}
                />
              )}
              {chosen !== undefined && (
                <UploadKey
                  id={chosen}
                  onClose={() => setChosen(undefined)}
                  onUploaded={() => {
                    setChosen(undefined);
                    loaded.reload();
                  }}
                />
              )}
            </>
          )
        }
      </LoadedView>
    </ScreenFrame>
  );
}

type Row = Schemas['ComputationRow'] | null | undefined;

const owner = (row: Row) => (row ? <User of={row.owner} /> : '-');
const change = (row: Row) => (row ? <Ago at={row.updated_at} /> : '-');

interface TaskTableProps<T> {
  title: string;
  items: T[];
  /** The number of all tasks of the kind. null if there may be more tasks than the service examined. */
  total: number | null;
  rowKey: (item: T) => string;
  /** The text in place of the table if there are no tasks of the kind. */
  nothing: string;
  /** The header of the column with the names of the tasks. */
  header: string;
  name: (item: T) => string;
  href: (item: T) => string;
  /** The text of the button of a task, such as `Upload key to`. The name of the task follows it. */
  action: string;
  act: (item: T) => Pick<ButtonProps, 'href' | 'onClick'>;
  more?: Column<T>[];
}

function TaskTable<T>({ title, items, total, rowKey, nothing, header, name, href, action, act, more = [] }: TaskTableProps<T>) {
  const columns: Column<T>[] = [
    { id: 'name', header, isRowHeader: true, cell: (item) => <Link href={href(item)}>{name(item)}</Link> },
    ...more,
    {
      id: 'action',
      header: 'Action',
      cell: (item) => (
        <Button variant="inline-link" ariaLabel={`${action} ${name(item)}`} {...act(item)}>
          {action.replace(/ (to|of|in)$/, '')}
        </Button>
      ),
    },
  ];
  return (
    <FactTable
      title={title}
      counter={`(${total ?? `${items.length}+`})`}
      items={items}
      rowKey={rowKey}
      columns={columns}
      empty={nothing}
      footer={total !== items.length && `The first ${items.length} are shown. Others may follow as these are done.`}
    />
  );
}
