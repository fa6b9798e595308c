import { Button, Link, SpaceBetween } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useEffect, useRef, useState } from 'react';
import { permissions } from '../access/permissions.ts';
import type { Column } from '../lists/columns.tsx';
import { ChoiceFilter, TextFilter } from '../lists/filter-bar.tsx';
import { PagedTable } from '../lists/paged-table.tsx';
import { usePage } from '../lists/use-page.ts';
import { missingSentences } from '../loading/problem-text.ts';
import { refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { Status, StatusIndicator, statusOptions } from '../show/status.tsx';
import { Ago, Time } from '../show/time.tsx';
import { Name, Names } from '../show/visible-texts.tsx';

type Row = Schemas['ComputationRow'];

/** The computations of the domain. */
export function ComputationsScreen() {
  const { client, domain, me } = useDomain();
  const { query } = useAddress();
  const status = statusOptions.find(({ value }) => value === query.get('status'))?.value;
  const owner = query.get('owner') ?? undefined;
  const page = usePage('listComputations', { status, owner }, { everySeconds: refreshSeconds.computations });
  const { value: todo } = useLoaded(domain, (signal) => client.getTodo({ signal }));
  const columns: Column<Row>[] = [
    {
      id: 'name',
      header: 'Name',
      isRowHeader: true,
      cell: ({ id, name }) => <Link href={addressOf({ screen: 'computation', domain, id })}>{name}</Link>,
    },
    { id: 'status', header: 'Status', minWidth: 120, cell: ({ status: of }) => <Status status={of} /> },
    {
      id: 'waits',
      header: 'Waits for',
      isSecondary: true,
      minWidth: 150,
      cell: (row) => <Waits row={row} todo={todo} />,
    },
    { id: 'owner', header: 'Owner', isSecondary: true, cell: ({ owner: of }) => <Name of={of} /> },
    { id: 'created', header: 'Created', isSecondary: true, cell: ({ created_at }) => <Time at={created_at} /> },
    { id: 'updated', header: 'Updated', isSecondary: true, cell: ({ updated_at }) => <Ago at={updated_at} /> },
  ];
  const create = permissions.createComputation(me) && (
    <Button variant="primary" href={addressOf({ screen: 'new-computation', domain })}>
      Create computation
    </Button>
  );
  return (
    <ScreenFrame title="Computations" above={[]} hasHeader={false}>
      <PagedTable
        title="Computations"
        page={page}
        columns={columns}
        rowKey={({ id }) => id}
        query={query}
        filterNames={['status', 'owner']}
        actions={create}
        filters={
          <div className="filters">
            <ChoiceFilter
              label="Status"
              all="Any status"
              value={query.get('status')}
              options={statusOptions}
              onChange={(chosen) => page.change({ status: chosen })}
            />
            <TextFilter label="Owner" value={query.get('owner')} onChange={(chosen) => page.change({ owner: chosen })} />
            <Button
              variant={owner === me.user ? 'primary' : 'normal'}
              onClick={() => page.change({ owner: owner === me.user ? undefined : me.user })}
            >
              Only mine
            </Button>
          </div>
        }
        empty={
          <SpaceBetween size="s" alignItems="center">
            <span>The domain has no computations yet.</span>
            {create}
          </SpaceBetween>
        }
      />
    </ScreenFrame>
  );
}

const mostNamed = 2;
/** A row that is only scrolled past asks for nothing. */
const pauseInMilliseconds = 400;

/** What a run of a computation waits for, first from the user. It is asked for once the row stays in view, and again when it changes. */
function Waits({ row: { id, status, updated_at }, todo }: { row: Row; todo: Schemas['Todo'] | undefined }) {
  const { client, domain } = useDomain();
  const cell = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const observer = new IntersectionObserver(([entry]) => {
      clearTimeout(timer);
      if (entry?.isIntersecting) timer = setTimeout(() => setSeen(true), pauseInMilliseconds);
    });
    if (cell.current) observer.observe(cell.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, []);
  const isOf = ({ computation_id }: { computation_id: string }) => computation_id === id;
  const isAsked = isSeen && status !== 'running' && status !== 'stopping';
  const { value: missing } = useLoaded(`${id} ${updated_at} ${isAsked}`, async (signal) =>
    isAsked ? missingSentences((await client.dryRun({ id, signal })).missing_items) : undefined,
  );
  if (todo?.keys.some(isOf)) return <Link href={addressOf({ screen: 'computation', domain, id })}>Your key</Link>;
  if (todo?.approvals.some(isOf)) return <Link href={addressOf({ screen: 'approve', domain, id })}>Your approval</Link>;
  if (missing?.length === 0) return <StatusIndicator type="success">Ready</StatusIndicator>;
  return (
    <span ref={cell}>
      {missing === undefined ? '-' : <Names of={missing.slice(0, mostNamed)} />}
      {missing && missing.length > mostNamed && ` and ${missing.length - mostNamed} more`}
    </span>
  );
}
