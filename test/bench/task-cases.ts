import { createHash } from 'node:crypto';
import { recordToken, tokenKey } from '../../shared/rows/agent-tokens.ts';
import { putContent } from '../../shared/rows/content-store.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { readAsset } from '../../shared/rows/asset.ts';
import { indexRows } from '../../shared/find/index-names.ts';
import { followTodo } from '../../shared/todo/follow-changes.ts';
import { numberOf } from 'computation-management-formats/identifiers';
import { deleteComputation } from '../../shared/computations/delete-computation.ts';
import type { TaskName } from '../../shared/tasks/tasks.ts';
import { aComputation, allowed, byAlice, endRunWith } from '../support/builders-store.ts';
import { aDataset, anAcceptedRun, aRegisteredCvm, aStartedRun, aStoppingRun, taskToken, type BenchWorld } from './bench-world.ts';
import { computationKey } from '../../shared/rows/computation.ts';

/** Returns the batch of the table's stream that contains only the row of a computation. */
function batchOf(domain: string, id: string) {
  const { pk, sk } = computationKey(domain, id);
  return { Records: [{ dynamodb: { Keys: { pk: { S: pk }, sk: { S: sk } } } }] };
}

/** The inputs of each task that are measured, by case. */
export const taskCases: Record<TaskName, Record<string, (world: BenchWorld) => unknown>> = {
  'attestation/verify-token': {
    'of a platform that is not supported': async ({ stores, domain }) => {
      const process = { domain, cvmId: await aRegisteredCvm(stores.table, domain), process: 'process' };
      const token = Buffer.from('e30.eyJwbGF0Zm9ybV90eXBlIjoiTm9DQyJ9.');
      await recordToken(stores.table, stores.content, process, { kind: 'eat', token }, byAlice.now);
      return { key: tokenKey(process, createHash('sha256').update(token).digest('hex')) };
    },
  },
  'lifecycle/offer-run': { '': async (world) => ({ run: await aStartedRun(world), task_token: taskToken }) },
  'lifecycle/await-cvm': { '': async (world) => ({ run: await anAcceptedRun(world), task_token: taskToken }) },
  'lifecycle/deliver-stop': { '': async (world) => ({ run: await aStoppingRun(world), task_token: taskToken }) },
  'lifecycle/complete-stop': { '': async (world) => await aStoppingRun(world) },
  'lifecycle/record-outcome': { '': async (world) => await anAcceptedRun(world) },
  'lifecycle/execution-ended': {
    aborted: async (world) => {
      const run = await aStartedRun(world);
      return {
        detail: { name: `run-${run.run_id}`, status: 'ABORTED', input: JSON.stringify({ action: 'run', ...run }) },
      };
    },
  },
  'lifecycle/sweep-runs': { 'nothing to do': () => ({}) },
  'maintenance/purge': {
    'nothing to do': () => ({}),
    'a computation with a run': async (world) => {
      const { computation_id: id, run_id } = await aStartedRun(world);
      await endRunWith(world.stores, world.domain, run_id);
      await deleteComputation(world.stores.table, { domain: world.domain, id, permit: allowed });
      return {};
    },
  },
  'maintenance/collect-content': { 'one note': () => ({}) },
  'maintenance/follow-table': {
    'no changes': () => ({ Records: [] }),
    'a name of three words': async ({ stores, domain }) =>
      batchOf(domain, await aComputation(stores.table, domain, 'Iris by region')),
    'a transition': async ({ stores, domain, known }) => {
      await indexRows(stores.table, [{ domain, kind: 'computation', number: numberOf(known.id) ?? 0 }]);
      await followTodo(stores.table, batchOf(domain, known.id), byAlice.now);
      return batchOf(domain, known.id);
    },
  },
  'maintenance/integrate-log': {
    'nothing to do': () => ({}),
    'the start and the end of a run': async (world) => {
      const { run_id } = await aStartedRun(world);
      await endRunWith(world.stores, world.domain, run_id);
      return {};
    },
  },
  'maintenance/fold-lists': { 'a few changes': () => ({}) },
  'maintenance/send-mails': { 'nothing to do': () => ({}) },
  'maintenance/receive-upload': {
    'an awaited upload': async ({ stores, domain }) => {
      const texts = { description: '', mime_type: '', user_key: '' };
      const fields = { ...aDataset('upload'), ...texts, content_access: 'creator' as const, use: 'open' as const };
      const { id } = await createAsset(stores.table, stores.content, { domain, ...fields, by: 'alice', now: byAlice.now });
      const { upload_key } = await readAsset(stores.table, domain, id);
      await putContent(stores.content, String(upload_key), Buffer.from('setosa'));
      return { key: upload_key };
    },
  },
};
