import { Button, Link, SpaceBetween } from '@cloudscape-design/components';
import { type Client, page, type Schemas } from 'computation-management-client';
import { describeMissing } from 'computation-management-words';
import { useEffect, useRef, useState } from 'react';
import { permissions } from '../access/permissions.ts';
import { machinesFor } from '../attestation/machines.ts';
import type { Column } from '../lists/columns.tsx';
import { ChoiceFilter, TextFilter, PagedTable, usePage } from '../lists/paged-table.tsx';
import { hasMachine } from '../loading/overview.ts';
import { problemText } from '../loading/problem-text.ts';
import { type Loaded, refreshSeconds, useLoaded } from '../loading/use-loaded.ts';
import { useAddress } from '../routing/navigation.ts';
import { addressOf } from '../routing/places.ts';
import { useDomain } from '../access/console-context.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { Status, StatusIndicator, statusOptions } from '../show/status.tsx';
import { Ago, Time } from '../show/time.tsx';
import { Names, User } from '../show/visible-texts.tsx';

type Row = Schemas['ComputationRow'];

/** Shows the screen with the list of the domain's computations. */
export function ComputationsScreen() {
  const { client, domain, me } = useDomain();
  const { query } = useAddress();
  const status = statusOptions.find(({ value }) => value === query.get('status'))?.value;
  const owner = query.get('owner') ?? undefined;
  const rows = usePage('listComputations', { status, owner }, { everySeconds: refreshSeconds.computations });
  const { round = 0 } = rows.loaded;
  const todo = useLoaded(domain, (signal) => client.getTodo({ signal }), { round });
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
      cell: (row) => <Waits row={row} round={round} todo={todo} />,
    },
    { id: 'owner', header: 'Owner', isSecondary: true, cell: ({ owner: of }) => <User of={of} /> },
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
        page={rows}
        columns={columns}
        rowKey={({ id }) => id}
        filterNames={['status', 'owner']}
        actions={create}
        filters={
          <>
            <ChoiceFilter label="Status" all="Any status" page={rows} name="status" options={statusOptions} />
            <TextFilter label="Owner" page={rows} name="owner" />
            <Button
              variant={owner === me.user ? 'primary' : 'normal'}
              onClick={() => rows.change({ owner: owner === me.user ? undefined : me.user })}
            >
              Only mine
            </Button>
          </>
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
/**
 * The time for which a row of the list must be in view before it asks the service what its computation waits for. A row that is only
 * scrolled past asks nothing.
 */
const pauseInMilliseconds = 400;

/** Shows what a run of a computation waits for, first from the user. Asks the service with each round of the list while the row is in view. */
function Waits({ row: { id, status }, round, todo }: { row: Row; round: number; todo: Loaded<Schemas['Todo']> }) {
  const { client, domain } = useDomain();
  const cell = useRef<HTMLSpanElement>(null);
  const [asked, setAsked] = useState<number>();
  const isOf = ({ computation_id }: { computation_id: string }) => computation_id === id;
  const isKey = todo.value?.keys.some(isOf) ?? false;
  const isApproval = todo.value?.approvals.some(isOf) ?? false;
  const isKnown = isKey || isApproval || status === 'running' || status === 'stopping' || todo.isLoading;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const observer = new IntersectionObserver(([entry]) => {
      clearTimeout(timer);
      if (entry?.isIntersecting) timer = setTimeout(() => setAsked(round), pauseInMilliseconds);
    });
    if (cell.current && !isKnown) observer.observe(cell.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [round, isKnown]);
  const { value: missing, problem } = useLoaded(
    `${id} ${asked === undefined}`,
    (signal) => (asked === undefined ? Promise.resolve(undefined) : inTurn(() => waitsFor(client, id, signal))),
    { round: asked },
  );
  if (isKey) return <Link href={addressOf({ screen: 'computation', domain, id })}>Your key</Link>;
  if (isApproval) return <Link href={addressOf({ screen: 'approve', domain, id })}>Your approval</Link>;
  return <span ref={cell}>{problem === undefined ? <Missing of={missing} /> : `Not known. ${problemText(problem).detail}`}</span>;
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

function Missing({ of }: { of: string[] | undefined }) {
  if (of === undefined) return '-';
  if (of.length === 0) return <StatusIndicator type="success">Ready</StatusIndicator>;
  return (
    <>
      <Names of={of.slice(0, mostNamed)} />
      {of.length > mostNamed && ` and ${of.length - mostNamed} more`}
    </>
  );
}

const asking: Promise<unknown>[] = [Promise.resolve(), Promise.resolve(), Promise.resolve()];

/** Runs requests of table rows, at most three at once. */
function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  const answer = Promise.resolve(asking.shift()).then(ask);
  asking.push(answer.catch(() => undefined));
  return answer;
}
