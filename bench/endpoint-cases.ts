import { randomUUID } from 'node:crypto';
import { recordContentRead } from '../shared/assets/content-reads.ts';
import { linkAsset } from '../shared/links/link-asset.ts';
import type { RouteName } from '../shared/endpoints/endpoints.ts';
import { aComputation, anAsset, aReadyComputation, byAlice, endRunWith, publicKey } from '../test/support/builders-store.ts';
import { aCvm, aDataset, anAcceptedRun, anOfferedRun, aStartedRun, type BenchWorld } from './bench-world.ts';

/** A request to an endpoint, without the domain. */
export interface EndpointRequest {
  path?: Record<string, string>;
  query?: Record<string, string>;
  body?: unknown;
  /** The user who calls. Default: the creator of everything in the domain. */
  by?: string;
}

type Answer = EndpointRequest | Promise<EndpointRequest>;

/** The requests to each endpoint, by case. A case first creates what its request needs; that is not measured. */
export const endpointCases: Record<RouteName, Record<string, (world: BenchWorld) => Answer>> = {
  'computations/create-computation': { '': () => ({ body: { name: 'Iris' } }) },
  'computations/list-computations': {
    'first page': () => ({}),
    'first page, by status': async ({ stores, domain }) => {
      for (let made = 0; made < 10; made++) await aComputation(stores.table, domain); // a status that is common
      return { query: { status: 'created' } };
    },
    'a page further on': () => ({ query: { offset: '55' } }),
  },
  'computations/get-computation': {
    whole: ({ known }) => ({ path: { id: known.id } }),
    peek: ({ known }) => ({ path: { id: known.id }, query: { peek: 'true' } }),
  },
  'computations/update-computation': { '': ({ known }) => ({ path: { id: known.id }, body: { name: `Iris, ${randomUUID()}` } }) },
  'computations/delete-computation': {
    'never run': async ({ stores, domain }) => ({ path: { id: await aComputation(stores.table, domain) } }),
    'with a link and a run': async (world) => {
      const { id, run_id } = await aStartedRun(world);
      await endRunWith(world.stores, world.domain, run_id);
      return { path: { id } };
    },
  },
  'runs/start-run': {
    '': async ({ stores, domain }) => ({ path: { id: (await aReadyComputation(stores, domain)).id }, query: { cvm: aCvm() } }),
  },
  'runs/get-run': {
    'the latest': ({ known }) => ({ path: { id: known.id } }),
    'an older one': ({ known }) => ({ path: { id: known.id }, query: { run: known.run } }),
  },
  'runs/list-runs': { 'first page': () => ({}) },
  'statistics/get-statistics': { '7 days': () => ({}) },
  'keys/upload-key': {
    '': async ({ stores, domain }) => ({ path: { id: await aComputation(stores.table, domain) }, body: { key: publicKey } }),
  },
  'keys/check-key': { '': ({ known }) => ({ path: { id: known.id } }) },
  'runs/dry-run': { '': ({ known }) => ({ path: { id: known.id } }) },
  'runs/stop-run': { '': async (world) => ({ path: { id: (await anAcceptedRun(world)).id } }) },
  'runs/get-manifest': {
    'as of now': ({ known }) => ({ path: { id: known.id } }),
    'of a run': ({ known }) => ({ path: { id: known.id }, query: { run: known.run } }),
  },
  'assets/create-asset': {
    inline: () => ({ body: { asset: { ...aDataset('inline'), asset: btoa('setosa') } } }),
    'to be uploaded': () => ({ body: { asset: aDataset('upload') } }),
  },
  'assets/list-assets': { 'first page': () => ({}) },
  'assets/get-asset': {
    'by its creator': ({ known }) => ({ path: { id: known.dataset } }),
    'by others, withheld': ({ known }) => ({ path: { id: known.dataset }, by: 'bob' }),
    'by others, recorded': async ({ stores, domain }) => {
      const id = await anAsset(stores, domain, { ...aDataset('open'), content_access: 'domain' });
      await recordContentRead(stores.table, { domain, assetId: id, user: 'bob', now: byAlice.now });
      return { path: { id }, by: 'bob' };
    },
  },
  'assets/update-asset': {
    'without content': async ({ stores, domain }) => ({
      path: { id: await anAsset(stores, domain, aDataset('same')) },
      body: { asset: { ...aDataset('same'), description: 'changed' } },
    }),
    'with content': async ({ stores, domain }) => ({
      path: { id: await anAsset(stores, domain, aDataset('same')) },
      body: { asset: { ...aDataset('same'), asset: btoa('versicolor') } },
    }),
  },
  'assets/delete-asset': {
    'not linked': async ({ stores, domain }) => ({ path: { id: await anAsset(stores, domain, aDataset('alone')) } }),
    'linked to one': async ({ stores, domain }) => ({ path: { id: (await aReadyComputation(stores, domain)).algorithm } }),
  },
  'assets/link-asset': {
    '': async ({ stores, domain, known }) => ({
      path: { id: known.algorithm, computationID: await aComputation(stores.table, domain) },
    }),
  },
  'assets/list-linked-computations': { 'first page': ({ known }) => ({ path: { id: known.algorithm } }) },
  'assets/unlink-asset': {
    '': async ({ stores, domain, known }) => {
      const computationId = await aComputation(stores.table, domain);
      await linkAsset(stores.table, { domain, assetId: known.algorithm, computationId, ...byAlice });
      return { path: { id: known.algorithm, computationID: computationId } };
    },
  },
  'events/list-events': {
    'first page': ({ known }) => ({ path: { id: known.id } }),
    filtered: ({ known }) => ({ path: { id: known.id }, query: { run_id: known.run } }),
  },
  'events/get-status': { '': ({ known }) => ({ path: { id: known.id } }) },
  'cvms/list-commands': {
    none: () => ({ path: { cvmID: aCvm() } }),
    'a run': async (world) => ({ path: { cvmID: (await anOfferedRun(world)).cvmID } }),
  },
  'cvms/report': {
    acceptance: async (world) => {
      const { cvmID, run_id, claim } = await anOfferedRun(world);
      return { path: { cvmID }, body: { reports: [{ id: '1', run_id, type: 'accepted', command_id: claim.run_command_id }] } };
    },
    'an event': (world) => anEvent(world, 'Running', 'InProgress'),
    'a heartbeat': async (world) => {
      const { cvmID, run_id } = await anAcceptedRun(world);
      return { path: { cvmID }, body: { reports: [{ id: '1', run_id, type: 'heartbeat' }] } };
    },
    'the end': (world) => anEvent(world, 'Complete', 'Completed'),
  },
  'service/health': { '': () => ({}) },
  'service/openapi': { '': () => ({}) },
};

async function anEvent(world: BenchWorld, event_type: string, status: string): Promise<EndpointRequest> {
  const { cvmID, run_id } = await anAcceptedRun(world);
  return { path: { cvmID }, body: { reports: [{ id: '1', run_id, type: 'event', event_type, status }] } };
}
