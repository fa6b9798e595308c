import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import {
  aDataset,
  anAcceptedRun,
  aStartedRun,
  aStoppingRun,
  type BenchRun,
  type BenchWorld,
} from '../../tools/bench/bench-world.ts';
import { localCredentials } from '../../local/machine/environment.ts';
import { removeAsset } from '../../shared/assets/change-asset.ts';
import { markForDeletion } from '../../shared/assets/mark-for-deletion.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { putContent } from '../../shared/assets/content-store.ts';
import { readAsset } from '../../shared/assets/read-asset.ts';
import { deleteAsset } from '../../shared/deletion/delete-asset.ts';
import { updateAsset } from '../../shared/links/update-asset.ts';
import type { ExecutionAction, Executions } from '../../shared/runs/executions.ts';
import { recordReports } from '../../shared/runs/record-reports.ts';
import { stopRun } from '../../shared/runs/stop-run.ts';
import { purgeKeys } from '../../shared/table/keys.ts';
import { Transaction } from '../../shared/table/transaction.ts';
import type { TaskName } from '../../shared/tasks/tasks.ts';
import { anAsset, byAlice, type Stores } from '../support/builders-store.ts';

/** Inputs of tasks beside those of the cost page: those that find something to do. */
export const moreTaskCases: Partial<Record<TaskName, Record<string, (world: BenchWorld) => unknown>>> = {
  'lifecycle/offer-run': {
    'with an input that is about to be deleted': async (world) => {
      const { algorithm, reference } = await aStartedRun(world);
      const { table } = world.stores;
      await markForDeletion(table, world.domain, await readAsset(table, world.domain, algorithm), byAlice.now);
      return { run: reference, task_token: 'token' };
    },
    'with an input that was deleted while the run started': async (world) => {
      const { algorithm, reference } = await aStartedRun(world);
      await removeAtOnce(world, algorithm);
      return { run: reference, task_token: 'token' };
    },
  },
  'lifecycle/record-outcome': {
    'of a run that its CVM completed': async (world) => {
      const run = await anAcceptedRun(world);
      const { table, executions } = world.stores;
      const end = { type: 'event', event_type: 'Complete', status: 'Completed', originator: 'agent' } as const;
      const reports = [{ ...end, id: 'end', run_id: run.run_id }];
      await recordReports(table, executions, { domain: world.domain, cvmId: run.cvmID, reports, now: byAlice.now });
      return run.reference;
    },
  },
  'lifecycle/sweep-runs': {
    'a run whose execution was aborted': async (world) => {
      await abort(world.stores.executions, 'run', await aStartedRun(world));
      return {};
    },
    'a stop whose execution was aborted': async (world) => {
      await abort(world.stores.executions, 'stop', await aStoppingRun(world));
      return {};
    },
    'a stop whose execution was never started': async (world) => {
      const run = await anAcceptedRun(world);
      const request = { domain: world.domain, computationId: run.id, ...byAlice };
      await stopRun(world.stores.table, unreachable(world.stores.executions), request).catch(() => undefined);
      return {};
    },
  },
  'maintenance/purge': {
    'an asset with content': async ({ stores, domain }) => {
      const id = await anAsset(stores, domain, aDataset('deleted'));
      await deleteAsset(stores.table, { domain, id, ...byAlice });
      return {};
    },
  },
  'maintenance/collect-content': {
    'replaced content, and an upload whose event was lost': async ({ stores, domain }) => {
      const id = await anAsset(stores, domain, aDataset('replaced'));
      const given = { ...aDataset('replaced'), description: '', mime_type: '', asset: btoa('versicolor') };
      await updateAsset(stores.table, stores.content, { domain, id, given, ...byAlice });
      await uploadUnnoticed(stores, domain);
      return {};
    },
  },
};

/** Deletes an asset without a look at the active runs. */
async function removeAtOnce({ stores, domain }: BenchWorld, id: string): Promise<void> {
  const asset = await readAsset(stores.table, domain, id);
  const { file_name, asset_type, content_key, upload_key } = asset;
  const purge = { domain, id, file_name, asset_type, content_key, upload_key, by: byAlice.by };
  const transaction = new Transaction();
  removeAsset(transaction, domain, asset);
  transaction.add({ put: { Item: { ...purgeKeys.purge('asset', id), ...purge } } });
  await transaction.commit(stores.table);
}

async function abort({ client, stateMachineArn }: Executions, action: ExecutionAction, { run_id }: BenchRun): Promise<void> {
  const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${action}-${run_id}`;
  await client.send(new StopExecutionCommand({ executionArn }));
}

/** Executions that nobody can start. */
function unreachable(executions: Executions): Executions {
  const client = new SFNClient({
    region: 'local',
    credentials: localCredentials,
    endpoint: 'http://127.0.0.1:1',
    maxAttempts: 1,
  });
  return { ...executions, client };
}

async function uploadUnnoticed({ table, content }: Stores, domain: string): Promise<void> {
  const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use: 'open' as const };
  const given = { ...aDataset('uploaded'), ...fields, domain, createdBy: 'alice', now: byAlice.now };
  const { id } = await createAsset(table, content, given);
  const { upload_key } = await readAsset(table, domain, id);
  await putContent(content, String(upload_key), Buffer.from('setosa'));
}
