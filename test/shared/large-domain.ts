import { parseArgs } from 'node:util';
import { followTable } from '../../local/functions/background.ts';
import { refuse, withdrawApproval } from '../../shared/approvals/approve.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { deleteAsset } from '../../shared/assets/delete-asset.ts';
import { linkAsset, unlinkAsset } from '../../shared/assets/link-asset.ts';
import { updateAsset } from '../../shared/assets/update-asset.ts';
import { createComputation } from '../../shared/computations/create-computation.ts';
import { deleteComputation } from '../../shared/computations/delete-computation.ts';
import { listComputations } from '../../shared/computations/describe-computation.ts';
import { updateComputation } from '../../shared/computations/update-computation.ts';
import { decideResult } from '../../shared/results/decide-result.ts';
import { defaultAgentConfig } from '../../shared/rows/agent-config.ts';
import { computationKey, fieldsOf, type StoredComputation, storedComputation } from '../../shared/rows/computation.ts';
import { find } from '../../shared/find/find.ts';
import { indexChangedNames } from '../../shared/find/index-names.ts';
import { readLinkedIds } from '../../shared/rows/link.ts';
import { readInputs } from '../../shared/rows/manifest.ts';
import { ServiceError } from '../../shared/runtime/errors.ts';
import { inParallel } from '../../shared/runtime/in-parallel.ts';
import { foldChangedLists, foldMarkedLists, type StreamBatch } from '../../shared/table/fold-lists.ts';
import { listKeys, lists, rowAt } from '../../shared/table/keys.ts';
import { parseStored } from '../../shared/table/stored.ts';
import { getItem, queryPrefix } from '../../shared/table/table.ts';
import { followTodo, recheckTodo } from '../../shared/todo/follow-changes.ts';
import { readTodo } from '../../shared/todo/read-todo.ts';
import { nextExpiry, type Task, tasksOf } from '../../shared/todo/tasks-of.ts';
import { aKey, computationFields, allowed, anApproval, aReviewedRun, noKey, startStores } from '../support/builders-store.ts';
import { seededRandom, shuffled } from '../support/seeded-random.ts';
import { setTestEnvironment } from '../support/test-environment.ts';
import { streamOf } from '../support/table-stream.ts';

/**
 * Compares what waits for users of a large domain, and what a search finds in it, with a full count, after each of many random histories, while
 * the changes are followed beside them; then after a time in which nothing was followed. Exits with 1 at the first difference, and says how to
 * repeat it.
 */
const { values } = parseArgs({
  options: {
    computations: { type: 'string', default: '20000' },
    users: { type: 'string', default: '500' },
    histories: { type: 'string', default: '2000' },
    changes: { type: 'string', default: '10' }, // of a history
    questions: { type: 'string', default: '300' }, // of each kind: words, parts of words, whole names
    missed: { type: 'string', default: '180000' }, // changes that nobody follows: 50 a second for an hour
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
  },
});
const size = {
  computations: Number(values.computations),
  users: Number(values.users),
  histories: Number(values.histories),
  changes: Number(values.changes),
  questions: Number(values.questions),
  missed: Number(values.missed),
};
const random = seededRandom(Number(values.seed));
/** Chooses what the follower does twice, so that its pace does not change the changes. */
const randomOfFollower = seededRandom(Number(values.seed) + 1);
const domain = 'large';
const users = [...Array.from({ length: size.users - 2 }, (_, index) => `user-${index}`), 'alice', 'olga'];
const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
const some = () => [...new Set(Array.from({ length: Math.floor(random() * 4) }, () => pick(users)))];

const letters = [
  'Diabetes',
  'Größe',
  'Region',
  'ΟΔΌΣ',
  'İzmir',
  'ﬁber',
  'Ⅳ',
  'čaj',
  '東京',
  'Éire',
  'x',
  '2026',
  'naïve',
  'Straße',
];
/** Returns a word: few are in many names, and most in few. */
const aWord = () => {
  const index = Math.floor(random() ** 3 * size.computations);
  return `${pick(letters)}${index === 0 ? '' : index}`;
};
const aName = () => {
  const words = Array.from({ length: 1 + Math.floor(random() * 10) }, aWord);
  return words.join(pick([' ', ', ', ' - ', '/'])).slice(0, 200);
};

const started = performance.now();
const say = (text: string) => console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`);

let time = Date.parse('2026-01-01T00:00:00.000Z');
const timeNow = () => new Date(time).toISOString();

const stores = await startStores();
setTestEnvironment(stores.endpoints);
process.env['LOG_LEVEL'] = 'WARN';
const { content } = stores;
// By the clock of this machine: folds wait by it, and the clock of tests stands still.
const { clock: _, ...table } = stores.table;

/** A computation with what waits in it, as a count finds it. */
interface Counted {
  row: StoredComputation;
  tasks: Map<string, Task>;
  expires: string | null;
}

/** The count: a computation is counted anew when it, or what it is linked to, was changed. */
const counted = new Map<string, Counted>();
/** The computations that wait for each user. */
const waiting = new Map(users.map((user) => [user, new Map<string, Counted>()]));
const reviews: { run: string; computation: string; checksum: string; left: Set<string> }[] = [];
const assets: { id: string; creator: string; isPending: boolean }[] = [];
let ids: string[] = [];

async function count(id: string): Promise<void> {
  for (const user of counted.get(id)?.tasks.keys() ?? []) waiting.get(user)?.delete(id);
  const item = await getItem(table, computationKey(domain, id));
  if (!item) return void counted.delete(id);
  const row = parseStored(storedComputation, item, 'computation');
  const inputs = await readInputs(table, domain, row);
  const awaited = new Set(reviews.filter(({ computation }) => computation === id).flatMap(({ left }) => [...left]));
  const found = { row, tasks: tasksOf(inputs, awaited, timeNow()), expires: nextExpiry(inputs, timeNow()) };
  counted.set(id, found);
  for (const user of found.tasks.keys()) waiting.get(user)?.set(id, found);
}

/** Makes a random change. What the service refuses changes nothing. @returns the computations that may have changed, and whether any did */
async function change(): Promise<{ touched: string[]; isMade: boolean }> {
  time += 1_000;
  const [now, by] = [timeNow(), pick(users)];
  const acting = { by, now, permit: allowed };
  const id = pick(ids);
  const row = counted.get(id)?.row;
  const asset = pick<(typeof assets)[number] | undefined>(assets);
  const touched = [id];
  const newAsset = async (isPending: boolean) => {
    const use = pick(['open', 'approval'] as const);
    const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const, use };
    const given = { ...fields, asset_type: pick(['algorithm', 'dataset'] as const), file_name: `${random()}.csv` };
    const found = await createAsset(table, content, { domain, ...given, ...(!isPending && { asset: btoa('x') }), by, now });
    assets.push({ id: found.id, creator: by, isPending });
  };
  const update = () =>
    updateComputation(table, {
      domain,
      seal: noKey,
      id,
      by,
      now,
      decide: (stored) => ({
        fields: {
          ...fieldsOf(stored, stored),
          name: random() < 0.5 ? stored.name : aName(),
          owner: pick(users),
          approval: pick(['none', 'all', 'all_signed'] as const),
        },
        agent_config: defaultAgentConfig,
        attestation_policy: null,
        result_review: null,
        consumers: some(),
        providers: some(),
        permitted: allowed(),
      }),
    });
  const expires_at = pick([null, new Date(time + 600_000).toISOString()]);
  const changes: (() => Promise<unknown>)[] = [
    update,
    update,
    () => aKey(table, domain, id, by),
    () => aKey(table, domain, id, row?.owner ?? by),
    () => anApproval(stores, domain, id, by, { expires_at }),
    () => withdrawApproval(table, { domain, computationId: id, by, now }),
    () => refuse(table, { domain, computationId: id, given: { decision: 'refuse', reason: 'No.' }, ...acting }),
    () => newAsset(false),
    () => newAsset(true),
  ];
  if (asset) {
    touched.push(...(await readLinkedIds(table, asset.id)));
    const link = { domain, assetId: asset.id, computationId: id, ...acting };
    const texts = { file_name: 'a.csv', asset_type: 'dataset' as const, description: '', mime_type: '' };
    const given = { ...texts, asset: btoa(String(random())) };
    changes.push(
      () => linkAsset(table, link),
      () => linkAsset(table, link),
      () => unlinkAsset(table, link),
      async () => {
        await updateAsset(table, content, { domain, id: asset.id, given, ...acting });
        asset.isPending = false;
      },
    );
    if (random() < 0.2)
      changes.push(async () => {
        await deleteAsset(table, { domain, id: asset.id, ...acting });
        assets.splice(assets.indexOf(asset), 1);
      });
  }
  if (random() < 0.05)
    changes.push(async () => {
      await deleteComputation(table, { domain, id, permit: allowed });
      ids = ids.filter((each) => each !== id);
    });
  const review = pick<(typeof reviews)[number] | undefined>(reviews.filter(({ left }) => left.size > 0));
  if (review && random() < 0.2)
    changes.push(async () => {
      touched.push(review.computation);
      const given = { decision: 'release' as const, checksum: review.checksum, note: '' };
      const user = pick([...review.left]);
      const request = { domain, computationId: review.computation, runId: review.run, by: user, now, permit: allowed };
      await decideResult(table, { ...request, resultDays: 30, given });
      review.left.delete(user);
    });
  try {
    await pick(changes)();
    return { touched, isMade: true };
  } catch (error) {
    if (error instanceof ServiceError) return { touched, isMade: false };
    throw error;
  }
}

/** Follows the table as the function does that is called with its changes, now and then twice at once. */
async function followOnce(_name: string, input: unknown): Promise<undefined> {
  const batch = input as StreamBatch;
  const once = [foldChangedLists(table, batch), indexChangedNames(table, batch), followTodo(table, batch, timeNow())];
  await Promise.all([...once, ...(randomOfFollower() < 0.1 ? [followTodo(table, batch, timeNow())] : [])]);
}

const startFollower = () => followTable(table.document, followOnce);
let follower = startFollower();

/** Waits until all changes so far are followed. @returns how long it took, in milliseconds */
async function followed(): Promise<number> {
  const since = Date.now();
  while (follower.followedUntil() <= since) await new Promise((resolve) => setTimeout(resolve, 5));
  return Date.now() - since;
}

const keyOf = ({ updated_at, id }: StoredComputation) => `${updated_at} ${id}`;
const byUpdate = (one: StoredComputation, other: StoredComputation) => (keyOf(one) < keyOf(other) ? 1 : -1);
const byId = (one: { row: StoredComputation }, other: { row: StoredComputation }) => (one.row.id < other.row.id ? 1 : -1);

function assertSame(what: string, found: unknown, expected: unknown): void {
  if (JSON.stringify(found) === JSON.stringify(expected)) return;
  console.log(`DIFFERS: ${what}\nfound    ${JSON.stringify(found)}\nexpected ${JSON.stringify(expected)}`);
  console.log(
    `Repeat it with ${Object.entries({ ...size, seed: values.seed })
      .flatMap(([name, value]) => [`--${name}`, value])
      .join(' ')}`,
  );
  process.exit(1);
}

/** Compares a user's open tasks, and pages of the lists of what waits for the user, with the count. */
async function compare(user: string): Promise<void> {
  const all = [...(waiting.get(user)?.values() ?? [])].sort(byId);
  const tasks = all.flatMap(({ row, tasks }) => {
    const task = tasks.get(user);
    return task ? [{ row, task }] : [];
  });
  const ownFirst = [...tasks.filter(({ task }) => task.is_own), ...tasks.filter(({ task }) => !task.is_own)];
  const idsOf = (has: (task: Task) => boolean) => ownFirst.filter(({ task }) => has(task)).map(({ row }) => row.id);
  const [approvals, keys] = [idsOf(({ approval }) => approval !== null), idsOf(({ needs_key }) => needs_key)];
  const invited = tasks.flatMap(({ row, task }) => (task.invitation ? [{ id: row.id, owner: task.invitation.owner }] : []));
  const perOwner = Map.groupBy(invited, ({ owner }) => owner).values();
  const newest = [...perOwner].flatMap((of) => of.slice(0, 20)).map(({ id }) => id);
  const pending = assets.filter(({ creator, isPending }) => isPending && creator === user).map(({ id }) => id);
  const toReview = reviews.filter(({ left, computation }) => left.has(user) && counted.has(computation)).map(({ run }) => run);
  const found = await readTodo(table, domain, user, timeNow());
  const listed = (of: { computation_id: string }[]) => of.map(({ computation_id }) => computation_id);
  assertSame(
    `to do of ${user}`,
    [
      found.totals,
      listed(found.approvals),
      listed(found.keys),
      listed(found.invitations),
      found.content.map(({ asset_id }) => asset_id),
      found.reviews.map(({ run_id }) => run_id).sort(),
    ],
    [
      {
        approvals: approvals.length,
        keys: keys.length,
        content: pending.length,
        reviews: toReview.length,
        refusals: tasks.reduce((sum, { task }) => sum + task.refusals, 0),
        invitations: invited.length,
      },
      approvals.slice(0, 100),
      keys.slice(0, 100),
      newest.sort().reverse().slice(0, 100),
      pending.sort().reverse().slice(0, 100),
      toReview.sort(),
    ],
  );
  const rows = tasks.map(({ row }) => row);
  const status = pick(['created', 'running', 'completed'] as const);
  await comparePage(`waiting for ${user}`, rows, { waiting_for: user });
  await comparePage(
    `waiting for ${user}, ${status}`,
    rows.filter((row) => row.status === status),
    { waiting_for: user, status },
  );
  await comparePage(`waiting for ${user}, by change`, rows.toSorted(byUpdate), { waiting_for: user, sort: 'updated' });
}

async function comparePage(what: string, expected: StoredComputation[], query: object): Promise<void> {
  const [limit, offset] = [1 + Math.floor(random() * 100), Math.floor(random() * (expected.length + 2))];
  const { computations, total } = await listComputations(table, domain, { limit, offset, ...query });
  const idsOf = (of: { id: string }[]) => of.map(({ id }) => id);
  assertSame(
    `${what}, ${offset} to ${offset + limit}`,
    [total, idsOf(computations)],
    [expected.length, idsOf(expected.slice(offset, offset + limit))],
  );
}

/** Compares the list of all computations by their last change. */
const compareAll = () =>
  comparePage('all by change', [...counted.values()].map(({ row }) => row).sort(byUpdate), { sort: 'updated' });

const comparable = (text: string) => text.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');
const wordsOf = (text: string) => comparable(text).match(/[\p{L}\p{M}\p{Nd}]+/gu) ?? [];

/** Asks for words, parts of words and whole names, and compares what is found with all names. @returns how often more was there than was read */
async function askForNames(): Promise<number> {
  const names = [...counted.values()].map(({ row: { id, name } }) => ({
    id,
    name,
    whole: comparable(name),
    words: wordsOf(name).slice(0, 8),
  }));
  let truncated = 0;
  for (let asked = 0; asked < size.questions; asked++) {
    const { name, words } = pick(names);
    const some = shuffled(words, random).slice(0, 1 + Math.floor(random() * 3));
    const parts = some.map((word) =>
      Array.from(word)
        .slice(0, 1 + Math.floor(random() * 5))
        .join(''),
    );
    for (const query of [
      some.join(' '),
      parts.join(' '),
      name.toUpperCase().length === name.length ? name.toUpperCase() : name,
    ]) {
      const begun = wordsOf(query);
      const isMatch = (each: (typeof names)[number]) =>
        each.whole === comparable(query) ||
        (begun.length > 0 && begun.every((part) => each.words.some((word) => word.startsWith(part))));
      const expected = names.filter(isMatch).map(({ id }) => id);
      const found = await find(table, { domain, kind: 'computation', query, limit: 50 });
      const ids = found.matches.map(({ id }) => id);
      truncated += Number(found.truncated);
      if (found.truncated)
        assertSame(
          `found by ${query}, of more`,
          ids.filter((id) => !expected.includes(id)),
          [],
        );
      else assertSame(`found by ${query}`, ids.sort(), expected.sort());
      const whole = names.filter((each) => each.whole === comparable(query)).map(({ id }) => id);
      if (whole.length <= 50)
        assertSame(
          `found by the whole name ${query}`,
          whole.filter((id) => !ids.includes(id)),
          [],
        );
    }
  }
  return truncated;
}

/** Counts all computations anew. */
async function recount(): Promise<void> {
  const rows = await queryPrefix(table, lists.computations(domain).pk, listKeys.prefixes.row, { attributes: ['id'] });
  await inParallel([...new Set([...rows.map((row) => String(row['id'])), ...counted.keys()])], count, 16);
}

say(`Seed ${values.seed}. Creating ${size.computations} computations of ${size.users} users.`);
const reviewed = Math.min(100, Math.floor(size.computations / 4));
for (let made = 0; made < reviewed; made++) {
  const reviewers = [...new Set(['alice', ...some()])]; // alice has the algorithm
  const run = await aReviewedRun(stores, domain, 'handed in', { reviewers, needed: reviewers.length });
  reviews.push({ run: run.run_id, computation: run.computation_id, checksum: run.checksum, left: new Set(reviewers) });
}
const rest = Array.from({ length: size.computations - reviewed }, (_, index) => index);
await inParallel(
  rest,
  async () => {
    time += 1; // the order of changes at one time is not defined
    const given = { agent_config: defaultAgentConfig, seal: noKey, attestation_policy: null, result_review: null, providers: [] };
    const fields = computationFields({ name: aName(), owner: pick(users) });
    await createComputation(table, { domain, ...given, fields, consumers: some(), by: 'alice', now: timeNow() });
  },
  8,
);
await recount();
ids = [...counted.keys()].filter((id) => !reviews.some(({ computation }) => computation === id));
say(`Created. Everything was followed ${(await followed()).toFixed(0)} ms after the last one and its count.`);

const delays: number[] = [];
let [made, compared] = [0, 0];
for (let history = 1; history <= size.histories; history++) {
  const touched = new Set<string>();
  for (let step = 0; step < size.changes; step++) {
    const result = await change();
    made += Number(result.isMade);
    for (const id of result.touched) touched.add(id);
  }
  delays.push(await followed());
  await recheckTodo(table, timeNow());
  const due = [...counted].filter(([, { expires }]) => expires !== null && expires <= timeNow()).map(([id]) => id);
  const before = [...touched].flatMap((id) => [...(counted.get(id)?.tasks.keys() ?? [])]);
  for (const id of new Set([...touched, ...due])) await count(id);
  const after = [...touched].flatMap((id) => [...(counted.get(id)?.tasks.keys() ?? [])]);
  const asked = [...shuffled([...new Set([...before, ...after])], random).slice(0, 6), pick(users), pick(users)];
  for (const user of new Set(asked.filter((user) => waiting.has(user)))) {
    await compare(user);
    compared += 1;
  }
  if (history % 10 === 0) await compareAll();
  if (history % 100 === 0) {
    const sorted = delays.toSorted((one, other) => one - other);
    const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);
    say(
      `${history} histories, ${made} changes made, ${compared} users compared. Followed after ${at(0.5)} ms, p95 ${at(0.95)}, at most ${at(1)}.`,
    );
  }
}

/** Counts everything anew, and compares all users. */
async function compareEveryone(): Promise<void> {
  await recount();
  for (const user of users) await compare(user);
  await compareAll();
}
await compareEveryone();
say('A full count of all computations is equal for all users.');
say(`${3 * size.questions} questions found every name, ${await askForNames()} of them with the word that there are more.`);

if (size.missed > 0) {
  await follower.stop();
  const missedChanges = streamOf(table);
  let missed = 0;
  while (missed < size.missed) {
    const results = await Promise.all(Array.from({ length: 8 }, () => change()));
    missed += results.filter(({ isMade }) => isMade).length;
    if (Math.floor(missed / 20_000) !== Math.floor((missed - 8) / 20_000))
      say(`${missed} changes were made, and none was followed.`);
  }
  const since = performance.now();
  const { Records } = missedChanges.take();
  follower = startFollower();
  for (const { dynamodb } of Records) {
    const key = { pk: dynamodb.Keys.pk.S, sk: dynamodb.Keys.sk.S };
    if (rowAt(key)) follower.follow(key);
  }
  await foldMarkedLists(table);
  await followed();
  await recheckTodo(table, timeNow());
  say(`${Records.length} items of ${missed} changes were followed in ${((performance.now() - since) / 1000).toFixed(0)} s.`);
  await compareEveryone();
  say('A full count of all computations is equal for all users again.');
  say(`${3 * size.questions} questions found every name, ${await askForNames()} of them with the word that there are more.`);
}
await follower.stop();
await stores.stop();
