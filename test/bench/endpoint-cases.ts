import { rebuildTodo } from '../../shared/todo/follow-changes.ts';
import { newCvmBody } from '../support/cvm-certificate.ts';
import type { EndpointRequest } from '../support/http-event.ts';
import { randomUUID } from 'node:crypto';
import { indexRows } from '../../shared/find/index-names.ts';
import { numberOf } from 'computation-management-formats/identifiers';
import { recordContentRead } from '../../shared/assets/describe-asset.ts';
import { readEvents } from '../../shared/events/read-events.ts';
import type { CvmInput } from '../../shared/cvms/cvm-input.ts';
import type { RunReference } from '../../shared/rows/run.ts';
import { integrateEntries } from '../../shared/history/index.ts';
import { readEvidence } from '../../shared/evidence/read-evidence.ts';
import { linkAsset } from '../../shared/assets/link-asset.ts';
import type { RouteName } from '../../shared/endpoints/endpoints.ts';

import {
  aComputation,
  anApproval,
  anAsset,
  aReadyComputation,
  aReviewedRun,
  aSharedComputation,
  byAlice,
  digestsOf,
  endRunWith,
  publicKey,
  stageLogOf,
} from '../support/builders-store.ts';
import {
  aCvm,
  aDataset,
  aKeyedAsset,
  anAcceptedRun,
  anAskedKey,
  anOfferedRun,
  aRegisteredCvm,
  aRunWithLog,
  aStartedRun,
  type BenchWorld,
} from './bench-world.ts';
import { strictPolicy } from '../support/strict-policy.ts';

type Answer = EndpointRequest | Promise<EndpointRequest>;
type Case = (world: BenchWorld) => Answer;

/** Requests about what is in the world from the start. */
const ofKnown: Case = ({ known }) => ({ path: { id: known.id } });
const ofKnownRun: Case = ({ known }) => ({ path: { id: known.id }, query: { run: known.run } });

/** Returns a case with a new computation. */
function ofNew(request: Omit<EndpointRequest, 'path'> = {}): Case {
  return async ({ stores, domain }) => ({ ...request, path: { id: await aComputation(stores.table, domain) } });
}

/** Returns a case with a new computation that is ready to run, and maybe approved. */
function ofReady(request: Omit<EndpointRequest, 'path'> = {}, isApproved = false): Case {
  return async ({ stores, domain }) => {
    const { id } = await aReadyComputation(stores, domain);
    if (isApproved) await anApproval(stores, domain, id, 'alice');
    return { ...request, path: { id } };
  };
}

/** Returns a case with a new registered CVM. @param given its registration, if it has no certificate */
function ofRegistered(request: Omit<EndpointRequest, 'path'> = {}, given?: CvmInput): Case {
  return async ({ stores, domain }) => ({ ...request, path: { cvmID: await aRegisteredCvm(stores.table, domain, given) } });
}

const ofKeyedAsset: Case = async ({ stores, domain }) => ({ path: { id: await aKeyedAsset(stores, domain) } });

/** Returns a case with a run that has just ended. */
const ofEndedRun: Case = async (world) => {
  const { computation_id: id, run_id } = await aStartedRun(world);
  await endRunWith(world.stores, world.domain, run_id);
  return { path: { id }, query: { run: run_id } };
};

const withoutCertificate = { description: '' };

/**
 * The requests to each endpoint that are measured, by case. A case first creates the items that its request needs, which is not
 * measured.
 */
export const endpointCases: Record<RouteName, Record<string, Case>> = {
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
    whole: ofKnown,
    peek: ({ known }) => ({ path: { id: known.id }, query: { peek: 'true' } }),
  },
  'computations/update-computation': { '': ({ known }) => ({ path: { id: known.id }, body: { name: `Iris, ${randomUUID()}` } }) },
  'computations/delete-computation': {
    'never run': ofNew(),
    'with a link and a run': async (world) => {
      const { path = {} } = await ofEndedRun(world);
      return { path };
    },
  },
  'runs/start-run': { '': async (world) => ({ ...(await ofReady()(world)), query: { cvm: aCvm() } }) },
  'runs/get-run': {
    'the latest': ofKnown,
    'an older one': ofKnownRun,
  },
  'runs/list-runs': { 'first page': () => ({}) },
  'statistics/get-statistics': { '7 days': () => ({}) },
  'keys/upload-key': {
    'by the owner': ofNew({ body: { key: publicKey } }),
    'by others': ofNew({ by: 'bob', body: { key: publicKey } }),
  },
  'keys/check-key': { '': ofKnown },
  'runs/dry-run': { '': ofKnown },
  'runs/stop-run': { '': async (world) => ({ path: { id: (await anAcceptedRun(world)).computation_id } }) },
  'runs/get-manifest': {
    'as of now': ofKnown,
    'of a run': ofKnownRun,
  },
  'attestation/get-attestation': { 'of an agent that sent no token': ofKnownRun },
  'results/hand-in-result': {
    'the first file': async (world) =>
      requestOn(await aReviewedRun(world.stores, world.domain), { file_name: 'counts.csv', size: 26 }),
  },
  'results/decide-result': {
    'the last decision': async (world) =>
      requestOn(await aReviewedRun(world.stores, world.domain, 'handed in'), { decision: 'release' }),
  },
  'results/get-result': {
    'the first time': async ({ stores, domain }) => {
      const run = await aReviewedRun(stores, domain, 'released');
      await integrateEntries(stageLogOf(stores));
      return requestOn(run);
    },
  },
  'evidence/get-evidence': {
    'the first time': async (world) => {
      const request = await ofEndedRun(world);
      await integrateEntries(stageLogOf(world.stores));
      return request;
    },
    again: async (world) => {
      const { stores, domain, known } = world;
      await integrateEntries(stageLogOf(stores));
      const request = { domain, computationId: known.id, runId: known.run, serviceVersion: '0.1.0', now: byAlice.now };
      await readEvidence(stageLogOf(stores), request);
      return ofKnownRun(world);
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
  'assets/set-asset-key': {
    'held by the service': async ({ stores, domain }) => ({
      path: { id: await anAsset(stores, domain, { ...aDataset('keyed'), asset: btoa('setosa') }) },
      body: { held: 'service', key: btoa('k'.repeat(32)), release_policy: strictPolicy },
    }),
  },
  'assets/get-asset-key': { '': ofKeyedAsset },
  'assets/remove-asset-key': { '': ofKeyedAsset },
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
    'first page': ofKnown,
    filtered: ({ known }) => ({ path: { id: known.id }, query: { run_id: known.run } }),
    'after an event': async (world) => ({ path: { id: world.known.id }, query: { after: await firstEvent(world) } }),
    'held for a second': async (world) => ({ path: { id: world.known.id }, query: { after: await lastEvent(world), wait: '1' } }),
  },
  'events/get-status': { '': ofKnown },
  'cvms/list-commands': {
    none: () => ({ path: { cvmID: aCvm() } }),
    'none, of a registered CVM, written': ofRegistered({}, withoutCertificate),
    'a run': async (world) => ({ path: { cvmID: (await anOfferedRun(world)).cvm_id } }),
    'held for a second': () => ({ path: { cvmID: aCvm() }, query: { wait: '1' } }),
    'a run that was accepted': async (world) => ({ path: { cvmID: (await anAcceptedRun(world)).cvm_id } }),
  },
  'cvms/report': {
    acceptance: async (world) => {
      const { cvm_id: cvmID, run_id, claim } = await anOfferedRun(world);
      return { path: { cvmID }, body: { reports: [{ id: '1', run_id, type: 'accepted', command_id: claim.run_command_id }] } };
    },
    'an event': (world) => anEvent(world, 'Running', 'InProgress'),
    'a heartbeat': async (world) => {
      const { cvm_id: cvmID, run_id } = await anAcceptedRun(world);
      return { path: { cvmID }, body: { reports: [{ run_id, type: 'heartbeat' }] } };
    },
    'a heartbeat of a registered CVM, written': ofRegistered(
      { body: { reports: [{ type: 'heartbeat', agent_state: 'ReceivingManifest', fit: 'ready' }] } },
      withoutCertificate,
    ),
    'the end': (world) => anEvent(world, 'Complete', 'Completed'),
  },
  'approvals/approve': {
    '': async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      return { path: { id }, body: await digestsOf(stores, domain, id) };
    },
    'a refusal': ofReady({ body: { decision: 'refuse', reason: 'Not yet.' } }),
  },
  'approvals/list-approvals': {
    '': ofKnown,
    'a stale one': async ({ stores, domain }) => {
      const { id } = await aReadyComputation(stores, domain);
      await anApproval(stores, domain, id, 'alice');
      const assetId = await anAsset(stores, domain, { file_name: 'later.csv', asset_type: 'dataset' });
      await linkAsset(stores.table, { domain, assetId, computationId: id, ...byAlice });
      return { path: { id } };
    },
  },
  'approvals/withdraw-approval': { '': ofReady({}, true) },
  'keys/remove-key': { '': ofReady() },
  'todo/get-todo': {
    nothing: () => ({ by: 'nobody' }),
    'three approvals': async ({ stores, domain }) => {
      for (let made = 0; made < 3; made++) await aSharedComputation(stores, domain);
      await rebuildTodo(stores.table, domain, byAlice.now);
      return { by: 'bob' };
    },
  },
  'notifications/set-notifications': { off: () => ({ body: { email: false } }) },
  'notifications/get-notifications': { '': () => ({}) },
  'notifications/unsubscribe': {},
  'notifications/show-unsubscribe': { '': () => ({ path: { secret: 'any' } }) },
  'logs/read-logs': { '': async (world) => ({ path: { id: (await aRunWithLog(world)).computation_id } }) },
  'find/find': {
    'by the name of a computation': async ({ stores, domain }) => {
      const id = await aComputation(stores.table, domain);
      const row = { domain, kind: 'computation', number: numberOf(id) ?? 0 } as const;
      await indexRows(stores.table, [row]);
      return { query: { q: 'Iris', kind: 'computation' } };
    },
  },
  'releases/list-releases': { nothing: () => ({}) },
  'releases/answer-release': {
    'a refusal': async (world) => ({ path: { id: await anAskedKey(world) }, body: { refusal: 'Not today.' } }),
  },
  'releases/auth': { '': () => ({ body: { version: '0.4.0' } }) },
  'releases/attest': {},
  'releases/get-key': {},
  'cvms/list-cvms': {
    'first page': async ({ stores, domain }) => {
      for (let count = 0; count < 3; count++) await aRegisteredCvm(stores.table, domain);
      return {};
    },
  },
  'cvms/get-cvm': { '': ofRegistered() },
  'cvms/register-cvm': {
    'a new one': async () => ({ path: { cvmID: aCvm() }, body: await newCvmBody() }),
    'described anew': ofRegistered({ body: { description: 'Rack 5' } }),
  },
  'cvms/delete-cvm': { '': ofRegistered() },
  'service/health': { '': () => ({}) },
  'service/openapi': { '': () => ({}) },
  'service/jwks': { '': () => ({}) },
  'history/get-checkpoint': { '': () => ({}) },
  'history/get-tile': {
    '': async ({ stores }) => ({ path: { tile: newestBundle(await integrateEntries(stageLogOf(stores))) } }),
  },
};

/**
 * The cases with long waits, which a sweep of faults need not repeat: they differ from a case with a shorter wait only in the
 * number of polls.
 */
export const longestWaits: Partial<Record<string, Record<string, Case>>> = {
  'events/list-events': {
    'held for 20 s': async (world) => ({ path: { id: world.known.id }, query: { after: await lastEvent(world), wait: '20' } }),
    'held for 20 s, filtered': async (world) => ({
      path: { id: world.known.id },
      query: { after: await lastEvent(world), wait: '20', run_id: world.known.run },
    }),
  },
  'cvms/list-commands': { 'held for 20 s': () => ({ path: { cvmID: aCvm() }, query: { wait: '20' } }) },
};

/** Returns the path of the newest bundle of a log with a number of entries, below 256,000. */
function newestBundle(size: number): string {
  const before = Math.floor((size - 1) / 256);
  const wide = size - 256 * before;
  return `entries/${String(before).padStart(3, '0')}${wide === 256 ? '' : `.p/${wide}`}`;
}

const firstEvent = async (world: BenchWorld) => (await eventsOf(world)).at(-1)?.id ?? '';
const lastEvent = async (world: BenchWorld) => (await eventsOf(world))[0]?.id ?? '';

function requestOn(run: RunReference & { checksum: string }, body?: object): EndpointRequest {
  const { computation_id: id, run_id, checksum } = run;
  return { path: { id }, query: { run: run_id }, ...(body && { body: { ...body, checksum } }) };
}

async function eventsOf({ stores, known }: BenchWorld) {
  return (await readEvents(stores.table, known.id, {}, { limit: 100, offset: 0 })).events;
}

async function anEvent(world: BenchWorld, event_type: string, status: string): Promise<EndpointRequest> {
  const { cvm_id: cvmID, run_id } = await anAcceptedRun(world);
  return { path: { cvmID }, body: { reports: [{ id: '1', run_id, type: 'event', event_type, status }] } };
}
