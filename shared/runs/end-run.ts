import { computationKey, computationNumber, parseComputation } from '../computations/read-computation.ts';
import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { parseClaim, type Ending } from './claim.ts';
import type { RunReference } from './run-reference.ts';
import { emitMetric } from '../metrics.ts';
import { countTransition } from '../computations/statistics.ts';
import { cvmKeys, journalKeys, lists } from '../table/keys.ts';
import { moveInList } from '../table/listing.ts';
import { getItems, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';
import { findRun, runKey } from './read-run.ts';
import { isActive, type Run } from '../computations/run.ts';

/**
 * The one place where a run ends: status, counts, statistics, the last event, and the CVM set free, in one transaction. What the
 * CVM said first counts; `otherwise` is how it ends when the CVM said nothing. Safe to repeat: a run that has ended stays as it is.
 * @returns the run as it ended; undefined when it is gone with its computation
 */
export async function endRun(table: Table, reference: RunReference, otherwise: Ending, now: string): Promise<Run | undefined> {
  const { domain, computation_id, run_id, cvm_id } = reference;
  const rowKey = runKey(domain, run_id);
  if (!rowKey) return undefined;
  const claimKey = cvmKeys.claim(domain, cvm_id);
  return await withFreshReads(table, async (table) => {
    const keys = [rowKey, computationKey(domain, computation_id), journalKeys.head(computation_id), claimKey];
    const [runItem, computationItem, head, claimItem] = await getItems(table, keys);
    const run = findRun(runItem, run_id);
    if (!run || !isActive(run.status)) return run;
    const computation = parseComputation(computationItem, computation_id);
    const claim = parseClaim(claimItem, run_id);
    const { status, reason, is_confirmed } = claim?.outcome ?? whileStopping(run, otherwise);

    const ended: Run = { ...run, status, ended_at: now, reason };
    const event: NewEvent = {
      ...{ event_type: status, status: status === 'failed' ? 'failure' : 'success', originator: 'system', run_id, cvm_id },
      details: { reason, ...(is_confirmed === undefined ? {} : { confirmed: is_confirmed }) },
      lifecycle: true,
    };
    const journal = await appendEvents(table, computation_id, parseHead(head), [event], now);
    await transact(table, [
      {
        update: {
          Key: rowKey,
          UpdateExpression: 'SET #status = :ended, ended_at = :now, reason = :reason',
          ConditionExpression: 'id = :id AND #status = :status',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: { ':ended': status, ':now': now, ':reason': reason, ':id': run_id, ':status': run.status },
        },
        otherwise: new StaleReadError(),
      },
      {
        update: {
          Key: computationKey(domain, computation_id),
          UpdateExpression: 'SET #status = :ended, run = :run',
          ConditionExpression: 'id = :id AND #status = :status AND run.id = :run_id',
          ExpressionAttributeNames: { '#status': 'status' },
          ExpressionAttributeValues: {
            ...{ ':ended': status, ':run': ended, ':id': computation_id },
            ...{ ':status': computation.status, ':run_id': run_id },
          },
        },
        otherwise: new StaleReadError(),
      },
      ...moveInList(lists.computations(domain), computationNumber(computation_id), computation.status, status),
      countTransition(domain, status, now),
      ...(claim
        ? [
            {
              delete: {
                Key: claimKey,
                ConditionExpression: claim.outcome ? 'run_id = :id' : 'run_id = :id AND attribute_not_exists(outcome)',
                ExpressionAttributeValues: { ':id': run_id },
              },
              otherwise: new StaleReadError(),
            },
          ]
        : []),
      { delete: { Key: cvmKeys.command(domain, cvm_id, run_id, 'run') } },
      { delete: { Key: cvmKeys.command(domain, cvm_id, run_id, 'stop') } },
      ...journal.actions,
    ]);
    emitMetric('RunsEnded', 1, { outcome: status });
    return ended;
  });
}

/** A run that somebody has stopped is cancelled whatever else goes wrong with it, and says so. */
function whileStopping(run: Run, otherwise: Ending): Ending {
  if (run.status !== 'stopping' || otherwise.status === 'cancelled') return otherwise;
  return { status: 'cancelled', reason: `Stopped; the CVM did not confirm it. ${otherwise.reason}`, is_confirmed: false };
}
