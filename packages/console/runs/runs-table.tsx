import type { Schemas } from 'computation-management-client';
import { runStatuses } from 'computation-management-formats/vocabulary';
import { useRows } from './use-rows.ts';
import { GoTo } from '../frame/index.ts';
import { ChoiceFilter, type Column, PagedTable, usePage } from '../lists/index.ts';
import { refreshSeconds } from '../loading/index.ts';
import { useAddress } from '../routing/index.ts';
import { durationText, Name, Status, statusOptions, Time, User } from '../show/index.ts';

type Run = Schemas['Run'];

const runStatusOptions = statusOptions.filter(({ value }) => value !== 'created');

/** Shows the list of runs of the domain, or of one computation. */
export function RunsTable({ computation }: { computation?: string }) {
  const { query } = useAddress();
  const status = runStatuses.find((known) => known === query.get('status'));
  const page = usePage('listRuns', { status, computation_id: computation }, { everySeconds: refreshSeconds.runs });
  const computations = useRows(
    computation === undefined ? page.loaded.value?.items.map(({ computation_id }) => computation_id) : [],
  );
  const columns: Column<Run>[] = [
    {
      header: 'Started',
      isRowHeader: true,
      minWidth: 125,
      cell: ({ id: run, computation_id: id, started_at }) => (
        <GoTo place={{ screen: 'run', id, run }}>
          <Time at={started_at} />
        </GoTo>
      ),
    },
    { header: 'Status', isPrimary: true, minWidth: 120, cell: ({ status: of }) => <Status status={of} /> },
    { header: 'CVM', cell: ({ cvm_id }) => <GoTo place={{ screen: 'cvm', cvm: cvm_id }}>{cvm_id}</GoTo> },
    { header: 'Started by', cell: ({ started_by }) => <User of={started_by} /> },
    {
      header: 'Duration',
      cell: ({ started_at, ended_at }) =>
        ended_at === null ? 'Not ended' : durationText(Date.parse(ended_at) - Date.parse(started_at)),
    },
    { header: 'Reason', cell: ({ reason }) => (reason === null ? '-' : <Name of={reason} />) },
  ];
  const ofComputation: Column<Run> = {
    header: 'Computation',
    cell: ({ computation_id: id }) => (
      <GoTo place={{ screen: 'computation', id }}>{computations.get(id)?.name ?? id.slice(-8)}</GoTo>
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
export const RunsScreen = () => <RunsTable />;
