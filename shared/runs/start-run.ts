import { randomUUID } from 'node:crypto';
import type { Permitted } from '../access/caller.ts';
import type { StoredComputation } from '../computations/computation.ts';
import { computationKey, computationNumber } from '../computations/read-computation.ts';
import { conflict, ServiceError } from '../errors.ts';
import type { NewEvent } from '../events/event.ts';
import { appendEvents } from '../events/journal.ts';
import { parseHead } from '../events/journal-head.ts';
import { numberedId } from '../identifiers.ts';
import type { Claim } from './claim.ts';
import { startExecution, type Executions } from './executions.ts';
import type { RunReference } from './run-reference.ts';
import { emitMetric } from '../metrics.ts';
import { buildManifest } from '../manifest/build-manifest.ts';
import { readInputs } from '../manifest/read-inputs.ts';
import { countTransition } from '../computations/statistics.ts';
import { cvmKeys, journalKeys, listKeys, lists, runKeys } from '../table/keys.ts';
import { addToList, moveInList, nextNumber } from '../table/listing.ts';
import { getItems, type Table } from '../table/table.ts';
import { StaleReadError, transact, withFreshReads } from '../table/transaction.ts';
import { endRun } from './end-run.ts';
import { isActive, type Run } from '../computations/run.ts';

interface RunRequest {
  domain: string;
  computationId: string;
  cvmId: string;
  by: string;
  now: string;
  /** Called with the computation before anything is told of it; throws to refuse. */
  permit: (computation: StoredComputation) => Permitted;
}

/**
 * Starts a run: run, claim of the CVM, manifest snapshot, status and `started` event in one transaction, then the execution. A
 * caller that dies in between leaves a claim without an execution, which the sweep ends.
 * @throws ServiceError `not_found`; `conflict` where a run is in the way; `incomplete` with what is missing; `unavailable`
 */
export async function startRun(
  table: Table,
  executions: Executions,
  request: RunRequest,
): Promise<{ runId: string; permitted: Permitted }> {
  const { reference, permitted } = await withFreshReads(table, (fresh) => claimCvm(fresh, request));
  try {
    await startExecution(executions, 'run', reference);
    emitMetric('RunsStarted', 1);
  } catch (error) {
    await endRun(table, reference, { status: 'failed', reason: 'The run could not be started.' }, request.now);
    throw error;
  }
  return { runId: reference.run_id, permitted };
}

async function claimCvm(table: Table, request: RunRequest): Promise<{ reference: RunReference; permitted: Permitted }> {
  const { domain, computationId, cvmId, by, now, permit } = request;
  const claimKey = cvmKeys.claim(domain, cvmId);
  const [{ permitted, ...inputs }, [head, taken]] = await Promise.all([
    readInputs(table, domain, computationId, permit),
    getItems(table, [journalKeys.head(computationId), claimKey]),
  ]);
  const { computation, agent_config } = inputs;
  if (isActive(computation.status)) {
    throw conflict('run_active', 'A run of this computation is active.', computation.run?.id);
  }
  if (taken) throw conflict('cvm_busy', `The CVM ${cvmId} is taken by another run.`, String(taken['run_id']));
  const { manifest, missing } = buildManifest(inputs);
  if (missing) throw new ServiceError('incomplete', 'The computation is not ready to run.', { missing_items: missing });

  const number = await nextNumber(table, lists.runs(domain));
  const reference = { domain, computation_id: computationId, run_id: numberedId(number), cvm_id: cvmId };
  const run: Run = {
    ...{ id: reference.run_id, computation_id: computationId, cvm_id: cvmId, status: 'running', started_by: by },
    ...{ started_at: now, ended_at: null, reason: null },
  };
  const claim: Claim = { ...reference, claimed_at: now, run_command_id: randomUUID(), stop_command_id: randomUUID() };
  const started: NewEvent = {
    event_type: 'started',
    status: 'success',
    originator: by,
    run_id: run.id,
    cvm_id: cvmId,
    details: {},
    lifecycle: true,
  };
  const journal = await appendEvents(table, computationId, parseHead(head), [started], now);
  const absent = 'attribute_not_exists(pk)';
  await transact(table, [
    { put: { Item: { ...listKeys.row(lists.runs(domain), number), ...run }, ConditionExpression: absent } },
    ...addToList(lists.runs(domain), number),
    { put: { Item: { ...runKeys.snapshot(computationId, run.id), run_id: run.id, manifest, agent_config } } },
    { put: { Item: { ...claimKey, ...claim }, ConditionExpression: absent }, otherwise: new StaleReadError() },
    {
      update: {
        Key: computationKey(domain, computationId),
        UpdateExpression: 'SET #status = :running, run = :run',
        ConditionExpression: 'id = :id AND #status = :status AND inputs_version = :inputs AND version = :version',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: {
          ...{ ':running': run.status, ':run': run, ':id': computationId, ':status': computation.status },
          ...{ ':inputs': computation.inputs_version, ':version': computation.version },
        },
      },
      otherwise: new StaleReadError(),
    },
    ...moveInList(lists.computations(domain), computationNumber(computationId), computation.status, 'running'),
    countTransition(domain, 'running', now),
    ...journal.actions,
  ]);
  return { reference, permitted };
}
