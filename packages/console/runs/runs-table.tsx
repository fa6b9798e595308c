import { Link } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useMemo } from 'react';
import { useDomain } from '../access/console-context.ts';
import { useRows } from './computation-rows.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import type { Column } from '../lists/columns.tsx';
import { ChoiceFilter, PagedTable, usePage } from '../lists/paged-table.tsx';
import { refreshSeconds } from '../loading/use-loaded.ts';
import { useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { Status, statusOptions } from '../show/status.tsx';
import { durationText } from '../show/texts.ts';
import { Time } from '../show/time.tsx';
import { Name, User } from '../show/visible-texts.tsx';

type Run = Schemas['Run'];

const runStatuses = ['running', 'stopping', 'completed', 'failed', 'cancelled'] as const;
const runStatusOptions = statusOptions.filter(({ value }) => value !== 'created');

/** Shows the list of runs of the domain, or of one computation. */
export function RunsTable({ computation }: { computation?: string }) {
  const { domain } = useDomain();
  const { query } = useAddress();
  const status = runStatuses.find((known) => known === query.get('status'));
  const page = usePage('listRuns', { status, computation_id: computation }, { everySeconds: refreshSeconds.runs });
  const runs = page.loaded.value?.items;
  const ids = useMemo(
    () => (computation === undefined ? runs?.map(({ computation_id }) => computation_id) : undefined),
    [computation, runs],
  );
  const computations = useRows(ids);
  const columns: Column<Run>[] = [
    {
      id: 'started',
      header: 'Started',
      isRowHeader: true,
      minWidth: 125,
      cell: ({ id: run, computation_id: id, started_at }) => (
        <Link href={addressOf({ screen: 'run', domain, id, run })}>
          <Time at={started_at} />
        </Link>
      ),
    },
    { id: 'status', header: 'Status', minWidth: 120, cell: ({ status: of }) => <Status status={of} /> },
    {
      id: 'cvm',
      header: 'CVM',
      isSecondary: true,
      cell: ({ cvm_id }) => <Link href={addressOf({ screen: 'cvm', domain, cvm: cvm_id })}>{cvm_id}</Link>,
    },
    { id: 'by', header: 'Started by', isSecondary: true, cell: ({ started_by }) => <User of={started_by} /> },
    {
      id: 'duration',
      header: 'Duration',
      isSecondary: true,
      cell: ({ started_at, ended_at }) =>
        ended_at === null ? 'Not ended' : durationText(Date.parse(ended_at) - Date.parse(started_at)),
    },
    { id: 'reason', header: 'Reason', isSecondary: true, cell: ({ reason }) => (reason === null ? '-' : <Name of={reason} />) },
  ];
  const ofComputation: Column<Run> = {
    id: 'computation',
    header: 'Computation',
    isSecondary: true,
    cell: ({ computation_id: id }) => (
      <Link href={addressOf({ screen: 'computation', domain, id })}>{computations.get(id)?.name ?? id.slice(-8)}</Link>
    ),
  };
  return (
    <PagedTable
      title="Runs"
      variant={computation === undefined ? 'full-page' : 'container'}
      page={page}
      columns={computation === undefined ? [...columns.slice(0, 2), ofComputation, ...columns.slice(2)] : columns}
      rowKey={({ id }) => id}
      filterNames={['status']}
      filters={<ChoiceFilter label="Status" all="Any status" page={page} name="status" options={runStatusOptions} />}
      empty={
        computation === undefined
          ? 'Nobody has started a run yet. Start one on the page of a computation.'
          : 'The computation was never run.'
      }
    />
  );
}

/** Shows the screen with the list of the domain's runs. */
export function RunsScreen() {
  return (
    <ScreenFrame title="Runs" above={[]} hasHeader={false}>
      <RunsTable />
    </ScreenFrame>
  );
}
