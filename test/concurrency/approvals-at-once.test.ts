import { canonicalDigest } from 'computation-management-formats/digests';
import { describe, expect, it } from 'vitest';
import type { AssetReplacement } from '../../shared/assets/asset-input.ts';
import { withdrawApproval, refuse } from '../../shared/approvals/approve.ts';
import { defaultAgentConfig, type AgentConfig } from '../../shared/rows/agent-config.ts';
import { fieldsOf, type ComputationFields } from '../../shared/rows/computation.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { Deadline, systemClock } from '../../shared/runtime/deadline.ts';
import { ServiceError } from '../../shared/runtime/errors.ts';
import { uploadKey } from '../../shared/keys/participant-keys.ts';
import { linkAsset, unlinkAsset } from '../../shared/assets/link-asset.ts';
import { readLinkedComputations } from '../../shared/assets/linked-computations.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import { parseSnapshot, snapshotKeys } from '../../shared/rows/run-snapshot.ts';
import { startRun } from '../../shared/runs/start-run.ts';
import {
  aComputation,
  aDatasetOfBob,
  allowed,
  anApproval,
  aRun,
  aSharedComputation,
  byAlice,
  noKey,
  type SharedComputation,
  startStores,
} from '../support/builders-store.ts';
import { oneOf } from '../support/amounts.ts';
import { untilTestEnds } from '../support/patience.ts';
import { beforeCall, beforeTheNextTransaction } from '../support/interleave.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';
import { getItems } from '../../shared/table/table.ts';

const stores = sharedByTests(startStores);

const domain = 'd1';

function replaceDataset(id: string, change: Partial<AssetReplacement>) {
  const given = { file_name: 'iris.csv', asset_type: 'dataset' as const, description: '', mime_type: '', ...change };
  return updateAsset(stores.table, stores.content, { domain, id, given, ...byAlice, by: 'bob' });
}

function replaceAlgorithm(id: string, change: Partial<AssetReplacement>) {
  const given = { file_name: 'algorithm.py', asset_type: 'algorithm' as const, description: '', mime_type: '', ...change };
  return updateAsset(stores.table, stores.content, { domain, id, given, ...byAlice });
}

interface ComputationChange extends Partial<ComputationFields> {
  consumers?: string[];
  config?: Partial<AgentConfig>;
}

function replaceComputation(id: string, { consumers = [], config = {}, ...change }: ComputationChange) {
  return updateComputation(stores.table, {
    domain,
    seal: noKey,
    id,
    by: 'alice',
    now: byAlice.now,
    decide: (row) => ({
      fields: { ...fieldsOf(row, row), ...change },
      agent_config: { ...defaultAgentConfig, ...config },
      attestation_policy: null,
      result_review: null,
      consumers,
      providers: [],
      permitted: allowed(),
    }),
  });
}

const anotherKey = 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=';

function replaceKey(computationId: string, user_id: string, is_consumer = false) {
  const key = { user_id, user_key: anotherKey, fingerprint: '', is_consumer, uploaded_at: byAlice.now };
  return uploadKey(stores.table, domain, computationId, key);
}

/** Changes after which what bob approved is not what would run, or a run takes more. */
const changes: [string, (computation: SharedComputation) => Promise<unknown>][] = [
  [
    'another dataset is linked',
    async ({ id }) =>
      linkAsset(stores.table, {
        domain,
        assetId: await aDatasetOfBob(stores, domain, 'more.csv', 'open'),
        computationId: id,
        ...byAlice,
      }),
  ],
  [
    'the algorithm is unlinked',
    ({ id, algorithm }) => unlinkAsset(stores.table, { domain, assetId: algorithm, computationId: id, ...byAlice }),
  ],
  ['the algorithm is deleted', ({ algorithm }) => deleteAsset(stores.table, { domain, id: algorithm, ...byAlice })],
  ['the dataset is renamed', ({ dataset }) => replaceDataset(dataset, { file_name: 'renamed.csv' })],
  ['the content of the dataset is replaced', ({ dataset }) => replaceDataset(dataset, { asset: btoa('other') })],
  ['the key of the dataset is set', ({ dataset }) => replaceDataset(dataset, { user_key: anotherKey })],
  ['the key of a provider is replaced', ({ id }) => replaceKey(id, 'bob')],
  ['the key of the owner is replaced', ({ id }) => replaceKey(id, 'alice')],
  ['a result consumer uploads a key', ({ id }) => replaceKey(id, 'carol', true)],
  ['the content of the algorithm is replaced', ({ algorithm }) => replaceAlgorithm(algorithm, { asset: btoa('print(2)') })],
  ['the key of the algorithm is set', ({ algorithm }) => replaceAlgorithm(algorithm, { user_key: anotherKey })],
  ['a result consumer is named', ({ id }) => replaceComputation(id, { consumers: ['bob'] })],
  ['the computation is described', ({ id }) => replaceComputation(id, { description: 'Described' })],
  ['the computation is renamed', ({ id }) => replaceComputation(id, { name: 'Renamed' })],
  ['the owner changes', ({ id }) => replaceComputation(id, { owner: 'bob' })],
  ['the configuration changes', ({ id }) => replaceComputation(id, { config: { attested_tls: true } })],
  ['the approval of all is demanded', ({ id }) => replaceComputation(id, { approval: 'all' })],
  [
    'the approval is withdrawn',
    ({ id }) => withdrawApproval(stores.table, { domain, computationId: id, by: 'bob', now: byAlice.now }),
  ],
  [
    'the approver refuses',
    ({ id }) =>
      refuse(stores.table, { domain, computationId: id, given: { decision: 'refuse', reason: 'No.' }, ...byAlice, by: 'bob' }),
  ],
];

let cvms = 0;

/** Starts a run while `act` happens at a point. Returns what is kept with it, or the code of the refusal. */
async function startWhile(id: string, happens: (act: () => Promise<unknown>) => void, act: () => Promise<unknown>) {
  happens(act);
  try {
    const run_id = await aRun({ table: stores.mortal, executions: stores.executions }, domain, id, `cvm-at-once-${++cvms}`);
    return parseSnapshot(await getItems(stores.table, snapshotKeys({ computation_id: id, run_id })));
  } catch (error) {
    if (error instanceof ServiceError) return error.code;
    throw error;
  }
}

type Point = [string, (act: () => Promise<unknown>) => void];

/** Points in the start of a run. */
const points: [Point, ...Point[]] = [
  ['after its row was read', (act) => beforeCall(stores.mortal, 'Query', act)],
  ['before it reads a batch', (act) => beforeCall(stores.mortal, 'BatchGet', act)],
  ['after its number was assigned', (act) => beforeCall(stores.mortal, 'Update', act)],
  ['just before its transaction', (act) => beforeTheNextTransaction(stores.mortal, act)],
];

describe('a run that starts while', () => {
  it.each(changes)('%s is refused, at any point of its start', async (_what, change) => {
    for (const [point, happens] of oneOf(points)) {
      const computation = await aSharedComputation(stores, domain);
      await anApproval(stores, domain, computation.id);
      expect([point, await startWhile(computation.id, happens, () => change(computation))]).toEqual([point, 'incomplete']);
    }
  });

  it('an asset is changed to need approval is refused, at any point of its start', async () => {
    for (const [point, happens] of oneOf(points)) {
      const { id, dataset } = await aSharedComputation(stores, domain, 'open');
      expect([point, await startWhile(id, happens, () => replaceDataset(dataset, { use: 'approval' }))]).toEqual([
        point,
        'incomplete',
      ]);
    }
  });

  it('the user approves again starts with the new approval', async () => {
    for (const [point, happens] of oneOf(points)) {
      const { id } = await aSharedComputation(stores, domain);
      const digest = await anApproval(stores, domain, id);
      const cvm_ids = [`cvm-at-once-${cvms + 1}`, 'another'];
      const started = await startWhile(id, happens, () => anApproval(stores, domain, id, 'bob', { cvm_ids }));
      if (typeof started === 'string') throw new Error(`${point}: ${started}`);
      expect([point, canonicalDigest(started.manifest), started.manifest_digest]).toEqual([point, digest, digest]);
      expect(started.approvals).toMatchObject([{ user: 'bob', digest, cvm_ids }]);
    }
  });

  it('its approval expires during the start is refused', async () => {
    const { id } = await aSharedComputation(stores, domain);
    await anApproval(stores, domain, id, 'bob', { expires_at: '2025-07-17T08:00:02.000Z' });
    let moved = 0;
    const begunAt = systemClock.now();
    const clock = { ...systemClock, steady: () => begunAt + moved };
    const deadline = () => new Deadline(untilTestEnds.timeout, clock);
    beforeCall(stores.mortal, 'Query', async () => {
      moved = 3_000;
    });
    const { executions } = stores;
    const request = { domain, computationId: id, cvmId: 'cvm-late', ...byAlice };
    await expect(startRun({ ...stores.mortal, deadline }, executions, request)).rejects.toMatchObject({ code: 'incomplete' });
    moved = 0;
    const inTime = { ...request, cvmId: 'cvm-in-time' };
    await expect(startRun({ ...stores.table, deadline }, executions, inTime)).resolves.toHaveProperty('runId');
  });

  it('only the log level changes starts', async () => {
    const { id } = await aSharedComputation(stores, domain);
    const digest = await anApproval(stores, domain, id);
    const act = () => replaceComputation(id, { config: { log_level: 'debug' } });
    expect(await startWhile(id, (act) => beforeTheNextTransaction(stores.mortal, act), act)).toMatchObject({
      manifest_digest: digest,
      agent_config: { log_level: 'debug' },
    });
  });
});

describe('a change of the use of an asset', () => {
  it('changes the inputs of all computations that it is linked to', async () => {
    const asset = await aDatasetOfBob(stores, domain, 'iris.csv', 'open');
    const ids: string[] = [];
    for (let count = 0; count < 83; count++) {
      const id = await aComputation(stores.table, domain);
      await linkAsset(stores.table, { domain, assetId: asset, computationId: id, ...byAlice });
      ids.push(id);
    }
    const versions = async () => (await readLinkedComputations(stores.table, domain, asset)).map(({ version }) => version);
    const before = await versions();
    expect(before).toHaveLength(83);
    await replaceDataset(asset, { use: 'approval' });
    const after = await versions();
    expect(after).toEqual(before.map((version) => version + 1));
    await replaceDataset(asset, { description: 'Flowers' });
    expect(await versions()).toEqual(after);
    await replaceDataset(asset, { use: 'approval' }); // perhaps a repeat of a request that died
    for (const [index, version] of (await versions()).entries()) expect(version).toBeGreaterThan(after[index] ?? 0);
  });
});
