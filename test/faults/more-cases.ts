import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { localCredentials } from '../../local/machine/environment.ts';
import { removeAsset, markForDeletion, readAsset } from '../../shared/rows/asset.ts';
import { putContent } from '../../shared/rows/content-store.ts';
import { refuse } from '../../shared/approvals/approve.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import type { ExecutionAction, Executions } from '../../shared/lifecycle/executions.ts';
import { recordReports } from '../../shared/cvms/record-reports.ts';
import { stopRun } from '../../shared/runs/stop-run.ts';
import { purgeKeys } from '../../shared/table/keys.ts';
import { Transaction } from '../../shared/table/transaction.ts';
import type { TaskName } from '../../shared/tasks/tasks.ts';
import {
  aCvm,
  aDataset,
  anAcceptedRun,
  aRegisteredCvm,
  aStartedRun,
  aStoppingRun,
  type BenchWorld,
} from '../bench/bench-world.ts';
import {
  aComputation,
  addHalfLinks,
  anApproval,
  anAsset,
  aReadyComputation,
  aSharedComputation,
  byAlice,
  digestsOf,
  publicKey,
  type StartedRun,
  type Stores,
} from '../support/builders-store.ts';
import type { EndpointRequest } from '../support/http-event.ts';
import type { KeyedName } from '../support/keyed-requests.ts';

const withKey = { cert_file: 'certificate', server_key: 'private key' };

/** Requests beside those of the cost page: those that change nothing, and a change of several computations. */
export const moreCases: [KeyedName | 'assets/get-asset', string, (world: BenchWorld) => Promise<EndpointRequest>][] = [
  [
    'computations/update-computation',
    'nothing changes',
    async ({ stores, domain }) => ({ path: { id: await aComputation(stores.table, domain, 'Same') }, body: { name: 'Same' } }),
  ],
  [
    'computations/create-computation',
    'with a private key',
    () => Promise.resolve({ body: { name: 'Iris', agent_config: withKey } }),
  ],
  [
    'computations/update-computation',
    'it gets a private key',
    async ({ stores, domain }) => ({
      path: { id: await aComputation(stores.table, domain) },
      body: { name: 'Iris', agent_config: withKey },
    }),
  ],
  [
    'computations/update-computation',
    'it gets another owner',
    async ({ stores, domain }) => ({
      path: { id: await aComputation(stores.table, domain) },
      body: { name: 'Iris', owner: 'bob' },
    }),
  ],
  [
    'computations/delete-computation',
    'with approvals and keys of others',
    async ({ stores, domain }) => {
      const { id } = await aSharedComputation(stores, domain);
      await anApproval(stores, domain, id);
      return { path: { id } };
    },
  ],
  [
    'runs/start-run',
    'with an approval',
    async ({ stores, domain }) => {
      const { id } = await aSharedComputation(stores, domain);
      await anApproval(stores, domain, id);
      return { path: { id }, query: { cvm: aCvm() } };
    },
  ],
  [
    'assets/get-asset',
    'by others, the first',
    async ({ stores, domain }) => ({
      path: { id: await anAsset(stores, domain, { ...aDataset('open'), content_access: 'domain' }) },
      by: 'bob',
    }),
  ],
  ['runs/stop-run', 'stopping already', async (world) => ({ path: { id: (await aStoppingRun(world)).computation_id } })],
  ['keys/upload-key', 'the same key', async ({ known }) => ({ path: { id: known.id }, body: { key: publicKey } })],
  [
    'approvals/approve',
    'the same again',
    async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      await anApproval(stores, domain, id, 'alice');
      return { path: { id }, body: await digestsOf(stores, domain, id) };
    },
  ],
  [
    'approvals/approve',
    'a refusal in place of an approval',
    async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      await anApproval(stores, domain, id, 'alice');
      return { path: { id }, body: { decision: 'refuse', reason: 'Not yet.' } };
    },
  ],
  [
    'approvals/withdraw-approval',
    'a refusal',
    async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      const given = { decision: 'refuse', reason: 'Not yet.' } as const;
      await refuse(stores.table, { domain, computationId: id, given, ...byAlice });
      return { path: { id } };
    },
  ],
  ['approvals/withdraw-approval', 'none given', ({ known }) => Promise.resolve({ path: { id: known.id } })],
  [
    'assets/update-asset',
    'its use takes approval, linked to one',
    async ({ stores, domain }) => {
      const { algorithm } = await aReadyComputation(stores, domain);
      return {
        path: { id: algorithm },
        body: { asset: { file_name: 'algorithm.py', asset_type: 'algorithm', use: 'approval' } },
      };
    },
  ],
  [
    'computations/update-computation',
    'it names consumers',
    async ({ stores, domain }) => ({
      path: { id: await aComputation(stores.table, domain) },
      body: { name: 'Iris', consumers: ['bob', 'carol'], providers: ['bob', 'dave'], approval: 'all' },
    }),
  ],
  [
    'assets/update-asset',
    'the content of a pending one',
    async ({ stores, domain }) => {
      const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use: 'open' as const };
      const given = { ...aDataset('pending'), ...fields, domain, by: 'alice', now: byAlice.now };
      const { id } = await createAsset(stores.table, stores.content, given);
      return { path: { id }, body: { asset: { ...aDataset('pending'), asset: btoa('a') } } };
    },
  ],
  ['assets/link-asset', 'linked already', async ({ known }) => ({ path: { id: known.algorithm, computationID: known.id } })],
  [
    'assets/unlink-asset',
    'not linked',
    async ({ stores, domain, known }) => ({
      path: { id: known.dataset, computationID: await aComputation(stores.table, domain) },
    }),
  ],
  [
    'assets/unlink-asset',
    'used by the active run',
    async (world) => {
      const { computation_id: id, algorithm } = await anAcceptedRun(world);
      return { path: { id: algorithm, computationID: id } };
    },
  ],
  [
    'assets/delete-asset',
    'with more links than fit into a transaction',
    async ({ stores, domain }) => {
      const id = await anAsset(stores, domain, aDataset('linked-widely'));
      await addHalfLinks(stores.table, id);
      return { path: { id } };
    },
  ],
  [
    'cvms/register-cvm',
    'nothing changes',
    async ({ stores, domain }) => ({
      path: { cvmID: await aRegisteredCvm(stores.table, domain) },
      body: { description: 'Rack 4' },
    }),
  ],
  [
    'assets/update-asset',
    'renamed in three computations, with content',
    async ({ stores, domain }) => {
      const id = await anAsset(stores, domain, { ...aDataset('before'), asset: btoa('a') });
      for (let count = 0; count < 3; count++) {
        const computationId = await aComputation(stores.table, domain);
        await linkAsset(stores.table, { domain, assetId: id, computationId, ...byAlice });
      }
      return { path: { id }, body: { asset: { ...aDataset('after'), asset: btoa('b') } } };
    },
  ],
];

/** Inputs of tasks beside those of the cost page: those that find something to do. */
export const moreTaskCases: Partial<Record<TaskName, Record<string, (world: BenchWorld) => unknown>>> = {
  'lifecycle/offer-run': {
    'with an input that is about to be deleted': async (world) => {
      const run = await aStartedRun(world);
      const { table } = world.stores;
      await markForDeletion(table, world.domain, await readAsset(table, world.domain, run.algorithm), byAlice.now);
      return { run, task_token: 'token' };
    },
    'with an input that was deleted while the run started': async (world) => {
      const run = await aStartedRun(world);
      await removeAtOnce(world, run.algorithm);
      return { run, task_token: 'token' };
    },
  },
  'lifecycle/record-outcome': {
    'of a run that its CVM completed': async (world) => {
      const run = await anAcceptedRun(world);
      const { table, executions } = world.stores;
      const end = { type: 'event', event_type: 'Complete', status: 'Completed', originator: 'agent' } as const;
      const reports = [{ ...end, id: 'end', run_id: run.run_id }];
      await recordReports(table, executions, { domain: world.domain, cvmId: run.cvm_id, reports, now: byAlice.now });
      return run;
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
      const request = { domain: world.domain, computationId: run.computation_id, ...byAlice };
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

async function abort({ client, stateMachineArn }: Executions, action: ExecutionAction, { run_id }: StartedRun): Promise<void> {
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
  const given = {
    ...aDataset('uploaded'),
    ...fields,
    domain,
    by: 'alice',
    now: new Date(Date.now() - 3 * 3_600_000).toISOString(),
  };
  const { id } = await createAsset(table, content, given);
  const { upload_key } = await readAsset(table, domain, id);
  await putContent(content, String(upload_key), Buffer.from('setosa'));
}
