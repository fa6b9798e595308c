import { newCvmBody } from '../../test/support/cvm-certificate.ts';
import type { EndpointRequest } from '../../test/support/http-event.ts';
import { randomUUID } from 'node:crypto';
import { indexRows } from '../../shared/find/index-names.ts';
import { numberOf } from 'computation-management-formats/identifiers';
import { recordContentRead } from '../../shared/assets/content-reads.ts';
import { readEvents } from '../../shared/events/read-events.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { readEvidence } from '../../shared/evidence/read-evidence.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';

import {
  aComputation,
  anApproval,
  anAsset,
  aReadyComputation,
  aSharedComputation,
  byAlice,
  digestsOf,
  endRunWith,
  publicKey,
} from '../../test/support/builders-store.ts';
import {
  aCvm,
  aDataset,
  anAcceptedRun,
  anOfferedRun,
  aRegisteredCvm,
  aRunWithLog,
  aStartedRun,
  type BenchWorld,
} from './bench-world.ts';
import { openKms } from '../../shared/runtime/clients.ts';

type Answer = EndpointRequest | Promise<EndpointRequest>;

/**
 * The requests to each endpoint that are measured, by case. A case first creates the items that its request needs, which is not
 * measured.
 */
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
    'by the owner': async ({ stores, domain }) => ({
      path: { id: await aComputation(stores.table, domain) },
      body: { key: publicKey },
    }),
    'by others': async ({ stores, domain }) => ({
      by: 'bob',
      path: { id: await aComputation(stores.table, domain) },
      body: { key: publicKey },
    }),
  },
  'keys/check-key': { '': ({ known }) => ({ path: { id: known.id } }) },
  'runs/dry-run': { '': ({ known }) => ({ path: { id: known.id } }) },
  'runs/stop-run': { '': async (world) => ({ path: { id: (await anAcceptedRun(world)).id } }) },
  'runs/get-manifest': {
    'as of now': ({ known }) => ({ path: { id: known.id } }),
    'of a run': ({ known }) => ({ path: { id: known.id }, query: { run: known.run } }),
  },
  'attestation/get-attestation': {
    'of an agent that sent no token': ({ known }) => ({ path: { id: known.id }, query: { run: known.run } }),
  },
  'evidence/get-evidence': {
    'the first time': async (world) => {
      const { id, run_id } = await aStartedRun(world);
      await endRunWith(world.stores, world.domain, run_id);
      return { path: { id }, query: { run: run_id } };
    },
    again: async ({ stores, domain, known }) => {
      const request = { domain, computationId: known.id, runId: known.run, serviceVersion: '0.1.0', now: byAlice.now };
      await readEvidence(
        stores.table,
        openKms(() => new Deadline()),
        request,
      );
      return { path: { id: known.id }, query: { run: known.run } };
    },
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
      await recordContentRead(stores.table, { domain, assetId: id, user: 'carol', now: byAlice.now });
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
    'after an event': async (world) => ({ path: { id: world.known.id }, query: { after: await firstEvent(world) } }),
    'held for a second': async (world) => ({ path: { id: world.known.id }, query: { after: await lastEvent(world), wait: '1' } }),
  },
  'events/get-status': { '': ({ known }) => ({ path: { id: known.id } }) },
  'cvms/list-commands': {
    none: () => ({ path: { cvmID: aCvm() } }),
    'none, of a registered CVM, written': async ({ stores, domain }) => ({
      path: { cvmID: await aRegisteredCvm(stores.table, domain, { description: '' }) },
    }),
    'a run': async (world) => ({ path: { cvmID: (await anOfferedRun(world)).cvmID } }),
    'held for a second': () => ({ path: { cvmID: aCvm() }, query: { wait: '1' } }),
    'a run that was accepted': async (world) => ({ path: { cvmID: (await anAcceptedRun(world)).cvmID } }),
  },
  'cvms/report': {
    acceptance: async (world) => {
      const { cvmID, run_id, claim } = await anOfferedRun(world);
      return { path: { cvmID }, body: { reports: [{ id: '1', run_id, type: 'accepted', command_id: claim.run_command_id }] } };
    },
    'an event': (world) => anEvent(world, 'Running', 'InProgress'),
    'a heartbeat': async (world) => {
      const { cvmID, run_id } = await anAcceptedRun(world);
      return { path: { cvmID }, body: { reports: [{ run_id, type: 'heartbeat' }] } };
    },
    'a heartbeat of a registered CVM, written': async ({ stores, domain }) => ({
      path: { cvmID: await aRegisteredCvm(stores.table, domain, { description: '' }) },
      body: { reports: [{ type: 'heartbeat', agent_state: 'ReceivingManifest', fit: 'ready' }] },
    }),
    'the end': (world) => anEvent(world, 'Complete', 'Completed'),
  },
  'approvals/approve': {
    '': async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      return { path: { id }, body: await digestsOf(stores, domain, id) };
    },
    'a refusal': async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      return { path: { id }, body: { decision: 'refuse', reason: 'Not yet.' } };
    },
  },
  'approvals/list-approvals': {
    '': ({ known }) => ({ path: { id: known.id } }),
    'a stale one': async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      await anApproval(stores, domain, id, 'alice');
      const assetId = await anAsset(stores, domain, { file_name: 'later.csv', asset_type: 'dataset' });
      await linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice });
      return { path: { id } };
    },
  },
  'approvals/withdraw-approval': {
    '': async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      await anApproval(stores, domain, id, 'alice');
      return { path: { id } };
    },
  },
  'keys/remove-key': {
    '': async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      return { path: { id } };
    },
  },
  'todo/get-todo': {
    nothing: () => ({ by: 'nobody' }),
    'three approvals': async ({ stores, domain }) => {
      for (let made = 0; made < 3; made++) await aSharedComputation(stores, domain);
      return { by: 'bob' };
    },
  },
  'logs/read-logs': { '': async (world) => ({ path: { id: (await aRunWithLog(world)).id } }) },
  'find/find': {
    'by the name of a computation': async ({ stores, domain }) => {
      const id = await aComputation(stores.table, domain);
      const row = { domain, kind: 'computation', number: numberOf(id) ?? 0 } as const;
      await indexRows(stores.table, [row]);
      return { query: { q: 'Iris', kind: 'computation' } };
    },
  },
  'cvms/list-cvms': {
    'first page': async ({ stores, domain }) => {
      for (let count = 0; count < 3; count++) await aRegisteredCvm(stores.table, domain);
      return {};
    },
  },
  'cvms/get-cvm': {
    '': async ({ stores, domain }) => ({ path: { cvmID: await aRegisteredCvm(stores.table, domain) } }),
  },
  'cvms/register-cvm': {
    'a new one': async () => ({ path: { cvmID: aCvm() }, body: await newCvmBody() }),
    'described anew': async ({ stores, domain }) => ({
      path: { cvmID: await aRegisteredCvm(stores.table, domain) },
      body: { description: 'Rack 5' },
    }),
  },
  'cvms/delete-cvm': {
    '': async ({ stores, domain }) => ({ path: { cvmID: await aRegisteredCvm(stores.table, domain) } }),
  },
  'service/health': { '': () => ({}) },
  'service/openapi': { '': () => ({}) },
  'service/jwks': { '': () => ({}) },
};

/**
 * The cases with long waits, which a sweep of faults need not repeat: they differ from a case with a shorter wait only in the
 * number of polls.
 */
export const longestWaits: Partial<Record<string, Record<string, (world: BenchWorld) => Answer>>> = {
  'events/list-events': {
    'held for 20 s': async (world) => ({ path: { id: world.known.id }, query: { after: await lastEvent(world), wait: '20' } }),
    'held for 20 s, filtered': async (world) => ({
      path: { id: world.known.id },
      query: { after: await lastEvent(world), wait: '20', run_id: world.known.run },
    }),
  },
  'cvms/list-commands': { 'held for 20 s': () => ({ path: { cvmID: aCvm() }, query: { wait: '20' } }) },
};

const firstEvent = async (world: BenchWorld) => (await eventsOf(world)).at(-1)?.id ?? '';
const lastEvent = async (world: BenchWorld) => (await eventsOf(world))[0]?.id ?? '';

async function eventsOf({ stores, known }: BenchWorld) {
  return (await readEvents(stores.table, known.id, {}, { limit: 100, offset: 0 })).events;
}

async function anEvent(world: BenchWorld, event_type: string, status: string): Promise<EndpointRequest> {
  const { cvmID, run_id } = await anAcceptedRun(world);
  return { path: { cvmID }, body: { reports: [{ id: '1', run_id, type: 'event', event_type, status }] } };
}
