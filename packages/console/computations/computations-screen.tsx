import { Button } from '@cloudscape-design/components';
import { type Client, page, type Schemas } from 'computation-management-client';
import { describeMissing, oldText, userText } from 'computation-management-words';
import { permissions, useDomain } from '../access/index.ts';
import { machinesFor } from '../attestation/machines.ts';
import { type Column, FilterBox, Nothing, PagedTable, RowFact, usePage } from '../lists/index.ts';
import { hasMachine, type Loaded, refreshSeconds, useLoaded } from '../loading/index.ts';
import { addressOf, useAddress } from '../routing/index.ts';
import { GoTo } from '../frame/index.ts';
import { Ago, Names, Status, StatusIndicator, statusOptions, useNow, User } from '../show/index.ts';

type Row = Schemas['ComputationRow'];

/** Shows the screen with the list of the domain's computations, last changed first. The service sorts filtered lists by newest first. */
export function ComputationsScreen() {
  const { client, domain, me } = useDomain();
  const { query } = useAddress();
  const status = statusOptions.find(({ value }) => value === query.get('status'))?.value;
  const [owner, waiting_for] = ['owner', 'waiting_for'].map((name) => query.get(name) ?? undefined);
  const sort = status === undefined && owner === undefined ? ('updated' as const) : undefined;
  const rows = usePage('listComputations', { status, owner, waiting_for, sort }, { everySeconds: refreshSeconds.computations });
  const { round } = rows.loaded;
  const now = useNow();
  const todo = useLoaded(domain, (signal) => client.getTodo({ signal }), { round });
  const columns: Column<Row>[] = [
    { header: 'Name', isRowHeader: true, cell: ({ id, name }) => <GoTo place={{ screen: 'computation', id }}>{name}</GoTo> },
    { header: 'Status', isPrimary: true, minWidth: 120, cell: ({ status: of }) => <Status status={of} /> },
    { header: 'Waits for', minWidth: 150, cell: (row) => <Waits row={row} round={round} todo={todo} /> },
    { header: 'Owner', cell: ({ owner: of }) => <User of={of} /> },
    { header: 'Last change', cell: ({ updated_at }) => <Ago at={updated_at} /> },
  ];
  const create = permissions.createComputation(me) && (
    <Button variant="primary" href={addressOf({ screen: 'new-computation', domain })}>
      Create computation
    </Button>
  );
  return (
    <PagedTable
      title="Computations"
      page={rows}
      columns={columns}
      rowKey={({ id }) => id}
      filterNames={['status', 'owner', 'waiting_for']}
      description={(sort ?? waiting_for) ? oldText(todo.value?.as_of ?? '', now) : undefined}
      actions={create}
      filters={
        <FilterBox
          label="Filter by status, owner or whom it waits for"
          filters={[
            { name: 'waiting_for', label: 'Waits for', options: [{ value: 'me', label: 'me' }] },
            { name: 'status', label: 'Status', options: statusOptions },
            { name: 'owner', label: 'Owner', options: [{ value: me.user, label: `${userText(me.user)} (you)` }] },
          ]}
          values={{ waiting_for, status, owner }}
          onChange={(changed, latest) => {
            // The service refuses these two together: the last choice counts.
            const other = changed['owner'] !== undefined && (latest === 'owner' ? 'waiting_for' : 'owner');
            rows.change(other && changed['waiting_for'] !== undefined ? { ...changed, [other]: undefined } : changed);
          }}
        />
      }
      empty={<Nothing text="The domain has no computations yet." action={create} />}
    />
  );
}

const mostNamed = 2;

/** Shows what a run of a computation waits for, first from the user. */
function Waits({ row: { id, status }, round, todo }: { row: Row; round: number; todo: Loaded<Schemas['Todo']> }) {
  const { client } = useDomain();
  const isOf = ({ computation_id }: { computation_id: string }) => computation_id === id;
  if (todo.value?.keys.some(isOf)) return <GoTo place={{ screen: 'computation', id }}>Your key</GoTo>;
  if (todo.value?.approvals.some(isOf)) return <GoTo place={{ screen: 'approve', id }}>Your approval</GoTo>;
  const isAsked = todo.value !== undefined || todo.problem !== undefined;
  if (!isAsked || status === 'running' || status === 'stopping') return '-';
  return (
    <RowFact of={id} ask={(signal) => waitsFor(client, id, signal)} round={round}>
      {(missing) => (missing ? <Missing of={missing} /> : '-')}
    </RowFact>
  );
}

function Missing({ of }: { of: readonly string[] }) {
  if (of.length === 0) return <StatusIndicator type="success">Ready</StatusIndicator>;
  return (
    <>
      <Names of={of.slice(0, mostNamed)} />
      {of.length > mostNamed && ` and ${of.length - mostNamed} more`}
    </>
  );
}

/** Returns what a run of a computation waits for, in words. Of one that lacks nothing else, that may be a machine. */
async function waitsFor(client: Client, id: string, signal: AbortSignal): Promise<string[]> {
  const missing = describeMissing((await client.dryRun({ id, signal })).missing_items).map(({ sentence }) => sentence);
  if (missing.length > 0) return missing;
  const { attestation_policy: policy } = await client.getComputation({ id, signal });
  if (policy === null) return [];
  const { items } = await page(client, 'listCvms', { limit: 100, signal });
  return hasMachine(machinesFor(policy, items)) ? [] : ['A machine that the policy allows'];
}
