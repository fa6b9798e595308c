import { aCvm, aDataset, anAcceptedRun, aRegisteredCvm, aStoppingRun, type BenchWorld } from '../../tools/bench/bench-world.ts';
import type { EndpointRequest } from '../support/http-event.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { linkAsset } from '../../shared/links/link-asset.ts';
import {
  aComputation,
  addHalfLinks,
  anApproval,
  anAsset,
  aReadyComputation,
  aSharedComputation,
  byAlice,
  publicKey,
} from '../support/builders-store.ts';
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
  ['runs/stop-run', 'stopping already', async (world) => ({ path: { id: (await aStoppingRun(world)).id } })],
  ['keys/upload-key', 'the same key', async ({ known }) => ({ path: { id: known.id }, body: { key: publicKey } })],
  [
    'approvals/approve',
    'the same again',
    async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      const digest = await anApproval(stores, domain, id, 'alice');
      return { path: { id }, body: { digest } };
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
      body: { name: 'Iris', consumers: ['bob', 'carol'], approval: 'all' },
    }),
  ],
  [
    'assets/update-asset',
    'the content of a pending one',
    async ({ stores, domain }) => {
      const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use: 'open' as const };
      const given = { ...aDataset('pending'), ...fields, domain, createdBy: 'alice', now: byAlice.now };
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
      const { id, algorithm } = await anAcceptedRun(world);
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
