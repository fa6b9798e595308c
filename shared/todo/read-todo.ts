import { describeRefusal, type Refusal } from '../approvals/index.ts';
import { storedAsset } from '../rows/asset.ts';
import { computationKey, storedComputation, type StoredComputation } from '../rows/computation.ts';
import { parseRefusal } from '../rows/stored-approval.ts';
import { runSchema } from '../rows/run.ts';
import { sharedClient } from '../runtime/clients.ts';
import { computationKeys, type AnyKey, type List, listKeys, lists, todoKeys } from '../table/keys.ts';
import { hashOfUser, openList, rowLists, type TaskList } from '../table/row-lists.ts';
import { parseStored } from '../table/stored.ts';
import { getItem, getItems, getItemsOf, type Item, queryBetween, type Table } from '../table/table.ts';
import { numberOfTask, parseTask, type StoredTask } from './follow-changes.ts';
import { positionInStream } from './position.ts';
import { mostEntries, mostOfInviter, type Todo } from './todo.ts';

/**
 * Reads the open tasks of a user from the lists that the follower of the table's stream keeps: approvals to give, keys and content to
 * upload, results to review, refusals to read and invitations. Up to 100 of each, with exact totals. Two round trips, and one more if there
 * are refusals or results. A user
 * with more than 500 invitations costs up to one for each inviter.
 * @param now RFC 3339, UTC, milliseconds
 */
export async function readTodo(table: Table, domain: string, userId: string, now: string): Promise<Todo> {
  const first = (kind: TaskList) => openList(table, rowLists.tasks(domain, userId, kind)).page({ limit: mostEntries, offset: 0 });
  const [as_of, approvals, keys, refusing, inviting, pending, reviewing, newest, refusals] = await Promise.all([
    sharedClient(positionInStream)(table, now),
    first('approvals'),
    first('keys'),
    first('refusals'),
    first('invitations'),
    first('content'),
    first('reviews'),
    newestInvitations(table, domain, userId),
    getItem(table, todoKeys.refusals(domain, hashOfUser(userId))),
  ]);
  const numbers = new Set([...approvals.numbers, ...keys.numbers, ...refusing.numbers].map(numberOfTask).concat(newest));
  const [tasks, content, reviews] = await Promise.all([
    readTasks(table, domain, userId, [...numbers]),
    readPending(table, domain, pending.numbers),
    readReviews(table, domain, userId, reviewing.numbers),
  ]);
  const listed = (found: { numbers: number[] }) => found.numbers.flatMap((number) => tasks.get(numberOfTask(number)) ?? []);
  const nameOf = ({ row: { id, name } }: FoundTask) => ({ computation_id: id, name });
  return {
    approvals: listed(approvals).flatMap((found) => (found.task.approval ? [{ ...nameOf(found), ...found.task.approval }] : [])),
    keys: listed(keys).flatMap((found) => (found.task.needs_key ? [nameOf(found)] : [])),
    content,
    reviews,
    refusals: await readRefusals(table, listed(refusing)),
    invitations: listed({ numbers: newest }).flatMap((found) =>
      found.task.invitation ? [{ ...nameOf(found), ...found.task.invitation }] : [],
    ),
    totals: {
      approvals: approvals.total,
      keys: keys.total,
      content: pending.total,
      reviews: reviewing.total,
      refusals: Number(refusals?.['refusals'] ?? 0),
      invitations: inviting.total,
    },
    as_of,
  };
}

interface FoundTask {
  row: StoredComputation;
  task: StoredTask;
}

/** Reads what waits for a user in computations with the given numbers. Leaves out those in which nothing does any more. */
async function readTasks(table: Table, domain: string, userId: string, numbers: number[]): Promise<Map<number, FoundTask>> {
  const keyOfRow = (number: number): AnyKey => listKeys.row(lists.computations(domain), number);
  const keys = numbers.flatMap((number) => [keyOfRow(number), todoKeys.user(domain, number, userId)]);
  const items = await getItems(table, keys);
  return new Map(
    numbers.flatMap((number, index): [number, FoundTask][] => {
      const [row, task] = items.slice(2 * index, 2 * index + 2);
      return row && task ? [[number, { row: parseStored(storedComputation, row, 'computation'), task: parseTask(task) }]] : [];
    }),
  );
}

/** Reads the rows of a list with the given numbers. Leaves out rows that are gone. */
async function readRows<Row>(table: Table, list: List, numbers: number[], parse: (row: Item) => Row): Promise<Row[]> {
  const keys = numbers.map((number): AnyKey => listKeys.row(list, number));
  return (await getItems(table, keys)).flatMap((row) => (row ? [parse(row)] : []));
}

/** Reads the assets with the given numbers that still wait for their content. */
async function readPending(table: Table, domain: string, numbers: number[]): Promise<Todo['content']> {
  const assets = await readRows(table, lists.assets(domain), numbers, (row) => parseStored(storedAsset, row, 'asset'));
  return assets.filter(({ state }) => state === 'pending').map(({ id, file_name }) => ({ asset_id: id, file_name }));
}

/** Reads the runs with the given numbers whose results still wait for the user, with the names of their computations. */
async function readReviews(table: Table, domain: string, userId: string, numbers: number[]): Promise<Todo['reviews']> {
  const runs = await readRows(table, lists.runs(domain), numbers, (row) => parseStored(runSchema, row, 'run'));
  const open = runs.filter(({ result }) => result && !result.decisions.some(({ reviewer }) => reviewer === userId));
  const computations = await getItemsOf(table, open, ({ computation_id }) => computationKey(domain, computation_id));
  return open.flatMap(({ id, computation_id }, index) => {
    const row = computations[index];
    return row ? [{ computation_id, name: parseStored(storedComputation, row, 'computation').name, run_id: id }] : [];
  });
}

/** Reads the refusals in the user's computations, up to 100. */
async function readRefusals(table: Table, found: FoundTask[]): Promise<Todo['refusals']> {
  const of = found.flatMap(({ row, task }) => task.refusers.map((user) => ({ row, user }))).slice(0, mostEntries);
  const items = await getItemsOf(table, of, ({ row, user }) => computationKeys.refusal(row.id, user));
  return of.flatMap(({ row: { id, name } }, index) => {
    const item = items[index];
    const refusal: Refusal | undefined = item && describeRefusal(parseRefusal(item));
    return refusal ? [{ computation_id: id, name, ...refusal }] : [];
  });
}

const invitationsPerRead = 500;
/** The first characters of the hashes at which the invitations of a user are divided, to read the parts at the same time. */
const divisions = ['', '8', 'G', 'O', 'W', 'd', 'l', 't', '~'];

/**
 * Returns the numbers of the computations that invite a user: the newest 20 of each owner, up to 100 in all, newest first. One read
 * for up to 500 invitations. Of more, it passes over those of an owner after the newest 20.
 */
async function newestInvitations(table: Table, domain: string, userId: string): Promise<number[]> {
  const user = hashOfUser(userId);
  const keyAt = (owner: string) => {
    const { pk, sk } = todoKeys.invitation(domain, user);
    return { pk, sk: sk + owner };
  };
  const read = async (first: AnyKey, last: AnyKey) => {
    const items = await queryBetween(table, first, last, { limit: invitationsPerRead, newestFirst: true, attributes: ['sk'] });
    return items.map(({ sk }) => String(sk));
  };
  const readPart = async (first: AnyKey, end: AnyKey): Promise<string[]> => {
    const found: string[] = [];
    for (let last = end; ;) {
      const keys = await read(first, last);
      found.push(...keys);
      const final = keys.at(-1);
      if (final === undefined || keys.length < invitationsPerRead) return found;
      const owner = ownerIn(final);
      const isPassed = found.filter((sk) => ownerIn(sk) === owner).length >= mostOfInviter;
      last = { pk: end.pk, sk: isPassed ? keyAt(owner).sk : final };
    }
  };
  const some = await read(keyAt(''), keyAt('~'));
  const readParts = () => divisions.slice(1).map((end, index) => readPart(keyAt(divisions[index] ?? ''), keyAt(end)));
  const all = some.length < invitationsPerRead ? some : (await Promise.all(readParts())).flat();
  const ofOwners = Map.groupBy(new Set(all), ownerIn);
  const newest = [...ofOwners.values()].flatMap((keys) => keys.map(numberIn).sort(descending).slice(0, mostOfInviter));
  return newest.sort(descending).slice(0, mostEntries);
}

const ownerIn = (sk: string) => sk.split('#')[2] ?? '';
const numberIn = (sk: string) => Number(sk.split('#')[3]);
const descending = (one: number, other: number) => other - one;
