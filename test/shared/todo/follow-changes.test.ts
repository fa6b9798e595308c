import { describe, expect, it } from 'vitest';
import { withdrawApproval, refuse } from '../../../shared/approvals/approve.ts';
import { deleteAsset } from '../../../shared/assets/delete-asset.ts';
import { linkAsset, unlinkAsset } from '../../../shared/assets/link-asset.ts';
import { updateAsset } from '../../../shared/assets/update-asset.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { listComputations } from '../../../shared/computations/describe-computation.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { defaultAgentConfig } from '../../../shared/rows/agent-config.ts';
import { createAsset } from '../../../shared/assets/create-asset.ts';
import { fieldsOf, type StoredComputation, storedComputation } from '../../../shared/rows/computation.ts';
import { readInputs } from '../../../shared/rows/manifest.ts';
import { type Run, runSchema } from '../../../shared/rows/run.ts';
import { parseSnapshot } from '../../../shared/rows/run-snapshot.ts';
import { decideResult } from '../../../shared/results/decide-result.ts';
import { ServiceError } from '../../../shared/runtime/errors.ts';
import type { StreamBatch } from '../../../shared/table/fold-lists.ts';
import { listKeys, lists, recheckKeys, runKeys, writableKey } from '../../../shared/table/keys.ts';
import { parseStored } from '../../../shared/table/stored.ts';
import { getItem, queryPartition, queryPrefix, type Table } from '../../../shared/table/table.ts';
import { deleteItemsOf, putItems } from '../../../shared/table/writes.ts';
import { followTodo, recheckTodo } from '../../../shared/todo/follow-changes.ts';
import { readTodo } from '../../../shared/todo/read-todo.ts';
import { type Task, tasksOf } from '../../../shared/todo/tasks-of.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import {
  aComputation,
  aKey,
  allowed,
  anApproval,
  aReviewedRun,
  aSharedComputation,
  byAlice,
  noKey,
  startStores,
} from '../../support/builders-store.ts';
import { tableThrough } from '../../support/embedded-table.ts';
import { seededRandom, shuffled } from '../../support/seeded-random.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { streamOf } from '../../support/table-stream.ts';

const stores = sharedByTests(startStores);
const sizes = amount({
  sample: { histories: 1, changes: 70, computations: 8, users: 5 },
  full: { histories: 2_000, changes: 300, computations: 40, users: 12 },
});
const start = Date.parse(byAlice.now);
const timeAt = (step: number) => new Date(start + step * 1_000).toISOString();

interface History {
  domain: string;
  users: string[];
  random: () => number;
  now: string;
}

/** Makes a random change of a domain. Changes that the service refuses change nothing. */
async function change({ domain, users, random, now }: History): Promise<void> {
  const { table, content } = stores;
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T;
  const some = () => users.filter(() => random() < 0.3);
  const atLeastOne = () => ['alice', ...some().filter((each) => each !== 'alice')];
  const rows = await rowsOf(table, domain);
  const allAssets = await queryPrefix(table, lists.assets(domain).pk, listKeys.prefixes.row);
  const assets = allAssets.filter(({ asset_type }) => asset_type !== 'result').map(({ id }) => String(id));
  const user = pick(users);
  const reviews = await reviewsOf(domain);
  const [row, assetId] = [pick<StoredComputation | undefined>(rows), pick<string | undefined>(assets)];
  const by = { by: user, now, permit: allowed };
  const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const };
  const newAsset = async (asset_type: 'algorithm' | 'dataset', asset?: string) => {
    const use = pick(['open', 'approval'] as const);
    const given = { ...fields, use, asset_type, file_name: `${random()}.csv`, ...(asset === undefined ? {} : { asset }) };
    await createAsset(table, content, { domain, ...given, by: user, now });
  };
  const changes: (() => Promise<unknown>)[] = [
    () => newAsset('dataset', btoa('x')),
    () => newAsset('dataset'),
    () => newAsset('algorithm', btoa('print(1)')),
  ];
  if (rows.length < sizes.computations) {
    const reviewers = atLeastOne();
    const review = { reviewers, needed: Math.ceil(random() * reviewers.length) };
    changes.push(
      () => aComputation(table, domain, 'Iris', some(), user),
      () => aReviewedRun(stores, domain, pick(['awaiting', 'handed in'] as const), review),
    );
  }
  const review = pick<Review | undefined>(reviews);
  if (review) {
    const { id: runId, computation_id: computationId, result } = review.run;
    const given = { decision: pick(['release', 'withhold'] as const), checksum: result?.checksum ?? '', note: '' };
    const by = pick(review.waiting);
    changes.push(() => decideResult(table, { domain, computationId, runId, by, now, permit: allowed, resultDays: 30, given }));
  }
  if (assetId !== undefined) changes.push(() => deleteAsset(table, { domain, id: assetId, ...by }));
  if (row) {
    const { id } = row;
    const update = () =>
      updateComputation(table, {
        domain,
        seal: noKey,
        id,
        by: user,
        now,
        decide: (stored) => ({
          fields: { ...fieldsOf(stored, stored), owner: pick(users), approval: pick(['none', 'all', 'all_signed'] as const) },
          agent_config: defaultAgentConfig,
          attestation_policy: null,
          result_review: pick([null, { reviewers: atLeastOne(), needed: 1 }]),
          consumers: some(),
          providers: some(),
          permitted: allowed(),
        }),
      });
    const expires_at = pick<string | null>([null, new Date(Date.parse(now) + 5_000).toISOString()]);
    const given = { decision: 'refuse' as const, reason: 'No.' };
    changes.push(
      update,
      () => aKey(table, domain, id, user),
      () => aKey(table, domain, id, row.owner),
      () => anApproval(stores, domain, id, user, { expires_at }),
      () => withdrawApproval(table, { domain, computationId: id, by: user, now }),
      () => refuse(table, { domain, computationId: id, given, ...by }),
    );
    if (random() < 0.2) changes.push(() => deleteComputation(table, { domain, id, permit: allowed }));
    if (assetId !== undefined) {
      const link = { domain, assetId, computationId: id, ...by };
      const asset = { file_name: 'a.csv', asset_type: 'dataset' as const, description: '', mime_type: '', asset: btoa('y') };
      changes.push(
        () => linkAsset(table, link),
        () => linkAsset(table, link),
        () => unlinkAsset(table, link),
        () => updateAsset(table, content, { domain, id: assetId, given: asset, ...by }),
      );
    }
  }
  try {
    await pick(changes)();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
  }
}

interface Review {
  run: Run;
  waiting: string[];
}

/** Returns the completed runs of a domain whose results wait for reviewers, newest first, with the reviewers who have not decided. */
async function reviewsOf(domain: string): Promise<Review[]> {
  const { table } = stores;
  const rows = await queryPrefix(table, lists.runs(domain).pk, listKeys.prefixes.row, { newestFirst: true });
  const runs = rows.map((row) => parseStored(runSchema, row, 'run'));
  const open = runs.filter(
    ({ status, result }) => status === 'completed' && !/released|withheld/.test(result?.state ?? 'released'),
  );
  return await Promise.all(
    open.map(async (run) => {
      const snapshot = parseSnapshot([await getItem(table, runKeys.snapshot(run.computation_id, run.id))]);
      const decided = run.result?.decisions.map(({ reviewer }) => reviewer) ?? [];
      return { run, waiting: (snapshot.result_review?.reviewers ?? []).filter((user) => !decided.includes(user)) };
    }),
  );
}

async function rowsOf(table: Table, domain: string): Promise<StoredComputation[]> {
  const items = await queryPrefix(table, lists.computations(domain).pk, listKeys.prefixes.row, { newestFirst: true });
  return items.map((item) => parseStored(storedComputation, item, 'computation'));
}

interface Expected {
  row: StoredComputation;
  task: Task;
}

/** Compares the lists of each user with a count of all computations. */
async function compare({ domain, users, now }: History): Promise<void> {
  const rows = await rowsOf(stores.table, domain);
  const reviews = await reviewsOf(domain);
  const tasks = await Promise.all(
    rows.map(async (row) => {
      const awaited = reviews.filter(({ run }) => run.computation_id === row.id).flatMap(({ waiting }) => waiting);
      return { row, tasks: tasksOf(await readInputs(stores.table, domain, row), new Set(awaited), now) };
    }),
  );
  const ids = (found: { id: string }[]) => found.map(({ id }) => id);
  const keyOf = ({ updated_at, id }: StoredComputation) => `${updated_at} ${id}`;
  const byUpdate = (one: StoredComputation, other: StoredComputation) => (keyOf(one) < keyOf(other) ? 1 : -1);
  for (const user of users) {
    const waiting = tasks.flatMap(({ row, tasks }): Expected[] => {
      const task = tasks.get(user);
      return task ? [{ row, task }] : [];
    });
    const ownFirst = [...waiting.filter(({ task }) => task.is_own), ...waiting.filter(({ task }) => !task.is_own)];
    const idsOf = (has: (task: Task) => boolean) => ownFirst.filter(({ task }) => has(task)).map(({ row }) => row.id);
    const todo = await readTodo(stores.table, domain, user, now);
    const listed = (found: { computation_id: string }[]) => found.map(({ computation_id }) => computation_id);
    const invitations = idsOf(({ invitation }) => invitation !== null);
    const toReview = reviews.filter(({ waiting }) => waiting.includes(user));
    const refusals = waiting.reduce((sum, { task }) => sum + task.refusals, 0);
    const pending = (await queryPrefix(stores.table, lists.assets(domain).pk, listKeys.prefixes.row)).filter(
      ({ state, created_by }) => state === 'pending' && created_by === user,
    );
    expect({
      ...todo,
      approvals: listed(todo.approvals),
      keys: listed(todo.keys),
      invitations: listed(todo.invitations),
    }).toMatchObject({
      approvals: idsOf(({ approval }) => approval !== null),
      keys: idsOf(({ needs_key }) => needs_key),
      invitations,
      refusals: { length: refusals },
      reviews: toReview.map(({ run }) => ({ computation_id: run.computation_id, run_id: run.id })),
      content: pending.reverse().map(({ id }) => ({ asset_id: id })),
      totals: { refusals, invitations: invitations.length, content: pending.length, reviews: toReview.length },
    });
    expect(todo.totals).toMatchObject({ approvals: todo.approvals.length, keys: todo.keys.length });
    const list = async (query: object) => {
      const { computations, total } = await listComputations(stores.table, domain, {
        limit: 100,
        offset: 0,
        waiting_for: user,
        ...query,
      });
      expect(total).toBe(computations.length);
      return ids(computations);
    };
    expect(await list({})).toEqual(ids(waiting.map(({ row }) => row)));
    for (const status of ['created', 'running', 'completed'] as const) {
      expect(await list({ status })).toEqual(ids(waiting.map(({ row }) => row).filter((row) => row.status === status)));
    }
    expect(await list({ sort: 'updated' })).toEqual(ids(waiting.map(({ row }) => row).sort(byUpdate)));
  }
  const sorted = await listComputations(stores.table, domain, { limit: 100, offset: 0, sort: 'updated' });
  expect(ids(sorted.computations)).toEqual(ids(rows.toSorted(byUpdate)));
  expect(sorted.total).toBe(rows.length);
}

/** A table whose calls fail now and then, before or after they are made. */
function failing(table: Table, random: () => number): Table {
  return tableThrough(table, async (send) => {
    if (random() < 0.02) throw new Error('Lost before the call.');
    const answer = await send();
    if (random() < 0.02) throw new Error('Lost after the call.');
    return answer;
  });
}

describe('followTodo', () => {
  it(
    `equals a full count after random changes, with batches out of order, twice, at once and after crashes (TEST_SEED=${sampleSeed})`,
    async () => {
      const stream = streamOf(stores.table);
      for (let seed = sampleSeed; seed < sampleSeed + sizes.histories; seed++) {
        const random = seededRandom(seed);
        const domain = `h${seed}`;
        const users = ['alice', 'bob', ...Array.from({ length: sizes.users - 2 }, (_, index) => `user-${index}`)];
        for (let count = 0; count < 2; count++) await aSharedComputation(stores, domain);
        let left: StreamBatch['Records'] = [];
        for (let step = 1; step <= sizes.changes; step++) {
          const history = { domain, users, random, now: timeAt(step) };
          await change(history);
          left.push(...stream.take().Records);
          if (random() > 0.2) continue;
          const mixed = shuffled(left, random);
          const batches = [0, 1, 2].map((part) => ({ Records: mixed.filter((_, index) => index % 3 === part) }));
          const followed = await Promise.allSettled(
            [...batches, ...batches.slice(0, 1)].map((batch) => followTodo(failing(stores.table, random), batch, history.now)),
          );
          left = batches.flatMap(({ Records }, index) => (followed[index]?.status === 'rejected' ? Records : []));
          stream.take(); // what the follower has written
        }
        const end = { domain, users, random, now: timeAt(sizes.changes + 100) };
        await followTodo(stores.table, { Records: left }, end.now);
        await recheckTodo(stores.table, end.now);
        await compare(end);
      }
    },
    amount({ sample: 60_000, full: 3_600_000 }),
  );

  it('keeps a computation on a page by last change that changes while the page is read', async () => {
    const domain = 'moving';
    const stream = streamOf(stores.table);
    const ids = [await aComputation(stores.table, domain), await aComputation(stores.table, domain)];
    const follow = (now: string) => followTodo(stores.table, stream.take(), now);
    await follow(byAlice.now);
    const rename = async (step: number) => {
      const now = timeAt(step);
      const [row] = await rowsOf(stores.table, domain);
      if (!row) throw new Error('There is no computation.');
      const fields = { ...fieldsOf(row, row), name: `Iris ${step}` };
      const [consumers, providers, permitted] = [[], [], allowed()];
      const unchanged = { agent_config: defaultAgentConfig, attestation_policy: null, result_review: null, consumers, providers };
      const decide = () => ({ fields, ...unchanged, permitted });
      await updateComputation(stores.table, { domain, seal: noKey, id: row.id, by: 'alice', now, decide });
      await follow(now);
    };
    let calls = Infinity;
    for (let changedAt = 1; changedAt <= calls; changedAt++) {
      calls = 0;
      const moving = tableThrough(stores.table, async (send) => {
        calls += 1;
        if (calls === changedAt) await rename(changedAt);
        return await send();
      });
      const page = await listComputations(moving, domain, { limit: 10, offset: 0, sort: 'updated' });
      expect(page.computations.map(({ id }) => id).sort()).toEqual(ids);
      expect(page.total).toBe(2);
    }
    expect(calls).toBeGreaterThan(2);
  });
});

it('looks in one sweep at all that is due, however much it is', async () => {
  const { table } = stores;
  const [shard = ''] = recheckKeys.shards;
  const due = Array.from({ length: 8_000 }, (_, index) => {
    const thing = { domain: 'due', kind: 'asset', number: index + 1 };
    return { ...recheckKeys.recheck(byAlice.now, recheckKeys.thing(thing.kind, thing.domain, thing.number)), ...thing };
  });
  const ofShard = due.filter(({ pk }) => pk === shard).slice(0, 510);
  await putItems(table, ofShard);
  expect(await recheckTodo(table, byAlice.now)).toBe(510);
  expect(await queryPartition(table, shard)).toEqual([]);
});

it('goes on past more failures than it takes up together, says how many failed, and keeps those', async () => {
  const { table } = stores;
  const [shard = ''] = recheckKeys.shards;
  const placed = (kind: 'asset' | 'computation', count: number) =>
    Array.from({ length: 8_000 }, (_, index) => ({ domain: `past-${kind}`, kind, number: index + 1 }))
      .map((thing) => ({ ...recheckKeys.recheck(byAlice.now, recheckKeys.thing(kind, thing.domain, thing.number)), ...thing }))
      .filter(({ pk }) => pk === shard)
      .slice(0, count);
  const failing = placed('computation', 510);
  await putItems(table, [...failing, ...placed('asset', 3)]);
  const broken = tableThrough(table, async (send, { input }) => {
    if ('KeyConditionExpression' in input && JSON.stringify(input).includes('past-computation')) throw new Error('broken');
    return await send();
  });
  await expect(recheckTodo(broken, timeAt(1))).rejects.toThrow('510 of 513 looks at computations and assets failed.');
  const kept = await queryPartition(table, shard);
  expect(kept.map(({ domain }) => domain)).toEqual(failing.map(({ domain }) => domain));
  await deleteItemsOf(table, kept, ({ pk, sk }) => writableKey(String(pk), String(sk)));
});
