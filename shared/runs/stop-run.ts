import type { Permitted } from '../access/caller.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { computationKey, computationNumber, parseComputation } from '../computations/read-computation.ts';
import { conflict } from '../errors.ts';
import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { startExecution, type Executions } from './executions.ts';
import { countTransition } from '../computations/statistics.ts';
import { journalKeys, lists } from '../table/keys.ts';
import { moveInList } from '../table/listing.ts';
import { getItems, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';
import { runKey } from './read-run.ts';
import type { Run } from '../computations/run.ts';

interface StopRequest {
  domain: string;
  computationId: string;
  by: string;
  now: string;
  permit: (computation: StoredComputation) => Permitted;
}

/**
 * Stops the run of a computation: status and `stop_requested` event in one transaction, then the execution that delivers the
 * stop. Repeated while stopping it gives the same answer, and starts an execution that a crash may have left out.
 * @throws ServiceError `not_found`; `conflict` when nothing runs
 */
export async function stopRun(
  table: Table,
  executions: Executions,
  request: StopRequest,
): Promise<{ run: Run; permitted: Permitted }> {
  const { run, permitted } = await withFreshReads(table, (fresh) => requestStop(fresh, request));
  await startExecution(executions, 'stop', {
    ...{ domain: request.domain, computation_id: run.computation_id, run_id: run.id, cvm_id: run.cvm_id },
  });
  return { run, permitted };
}

async function requestStop(
  table: Table,
  { domain, computationId, by, now, permit }: StopRequest,
): Promise<{ run: Run; permitted: Permitted }> {
  const key = computationKey(domain, computationId);
  const [row, head] = await getItems(table, [key, journalKeys.head(computationId)]);
  const { status, run, ...computation } = parseComputation(row, computationId);
  const permitted = permit({ status, run, ...computation });
  if (status === 'stopping' && run) return { run, permitted };
  if (status !== 'running' || !run) throw conflict('nothing_to_stop', 'No run of this computation is active.');
  const rowKey = runKey(domain, run.id);
  if (!rowKey) throw new Error('A computation names a run that this service cannot have started.');

  const stopping: Run = { ...run, status: 'stopping' };
  const event: NewEvent = {
    event_type: 'stop_requested',
    status: 'success',
    originator: by,
    run_id: run.id,
    cvm_id: run.cvm_id,
    details: {},
    lifecycle: true,
  };
  const journal = await appendEvents(table, computationId, parseHead(head), [event], now);
  const names = { '#status': 'status' };
  await transact(table, [
    {
      update: {
        Key: rowKey,
        UpdateExpression: 'SET #status = :stopping',
        ConditionExpression: 'id = :id AND #status = :running',
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: { ':stopping': 'stopping', ':running': 'running', ':id': run.id },
      },
      otherwise: new StaleReadError(),
    },
    {
      update: {
        Key: key,
        UpdateExpression: 'SET #status = :stopping, run = :run',
        ConditionExpression: 'id = :id AND #status = :running AND run.id = :run_id',
        ExpressionAttributeNames: names,
        ExpressionAttributeValues: {
          ...{ ':stopping': 'stopping', ':running': 'running', ':run': stopping, ':id': computationId, ':run_id': run.id },
        },
      },
      otherwise: new StaleReadError(),
    },
    ...moveInList(lists.computations(domain), computationNumber(computationId), 'running', 'stopping'),
    countTransition(domain, 'stopping', now),
    ...journal.actions,
  ]);
  return { run: stopping, permitted };
}
