import * as v from 'valibot';
import { log } from '../logger.ts';
import { migrationKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { deadlineOf, queryPartition, type Table } from '../table/table.ts';
import { ConditionFailedError, transact } from '../table/transaction.ts';
import type { Migration } from './migration.ts';
import { migrations as allMigrations } from './migrations.ts';

const migrationState = v.object({
  /** When a function that knows the migration was first called: RFC 3339, UTC, milliseconds. */
  seen_at: v.string(),
  done_at: v.optional(v.string()),
  /** Where the next step goes on; absent before the first. */
  cursor: v.optional(v.object({ pk: v.string(), sk: v.string() })),
  /** How many steps were recorded. */
  steps: v.number(),
  /** How many items the recorded steps changed. A step that died before its record may have changed more. */
  changed: v.number(),
});
type MigrationState = v.InferOutput<typeof migrationState>;

interface Options {
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** How long after it was first seen a migration begins. Until then, functions of the version before may still write. */
  graceInSeconds: number;
  /** Default: all migrations of the service. */
  migrations?: readonly Migration[];
}

/** Time that a step may take, in milliseconds: none begins with less. */
const timeForAStep = 4_000;

/**
 * Continues the migrations until all are done or the caller's time is nearly over. Each step is recorded when it is done, so a
 * crash repeats one step at most. Two runners at once may do the same step, which is harmless: one of them fails to record it and
 * leaves the rest to the other. One read if nothing is left to do.
 * @returns how many migrations are not done
 */
export async function runMigrations(table: Table, options: Options): Promise<number> {
  const { migrations = allMigrations } = options;
  const items = await queryPartition(table, migrationKeys.partition);
  const states = new Map(items.map((item) => [item['sk'], parseStored(migrationState, item, 'state of a migration')]));
  const open = migrations.filter(({ name }) => states.get(name)?.done_at === undefined);
  for (const [index, migration] of open.entries()) {
    if (!(await isDoneAfter(table, migration, states.get(migration.name), options))) return open.length - index;
  }
  return 0;
}

/** Continues one migration. @returns whether it is done */
async function isDoneAfter(
  table: Table,
  migration: Migration,
  known: MigrationState | undefined,
  { now, graceInSeconds }: Options,
): Promise<boolean> {
  let state = known ?? { seen_at: now, steps: 0, changed: 0 };
  if (!known && !(await isRecorded(table, migration, undefined, state))) return false;
  const waitsUntil = Date.parse(state.seen_at) + graceInSeconds * 1000;
  if (state.steps === 0 && Date.parse(now) < waitsUntil) return false;
  while (state.done_at === undefined && deadlineOf(table).remaining >= timeForAStep) {
    const { next: cursor, changed } = await migration.step(table, state.cursor);
    const after = { ...state, cursor, steps: state.steps + 1, changed: state.changed + changed };
    if (!cursor) after.done_at = now;
    if (!(await isRecorded(table, migration, state, after))) return false;
    state = after;
  }
  const { steps, changed, done_at } = state;
  log('INFO', 'A migration made progress.', { migration: migration.name, steps, changed, done: done_at !== undefined });
  return done_at !== undefined;
}

/** Records the state. @returns false if another runner has recorded one since `before` was read: it goes on in place of this one */
async function isRecorded(
  table: Table,
  { name }: Migration,
  before: MigrationState | undefined,
  after: MigrationState,
): Promise<boolean> {
  const condition = before
    ? { ConditionExpression: 'steps = :steps', ExpressionAttributeValues: { ':steps': before.steps } }
    : { ConditionExpression: 'attribute_not_exists(pk)' };
  const put = { Item: { ...migrationKeys.state(name), ...after }, ...condition };
  try {
    await transact(table, [{ put }]);
    return true;
  } catch (error) {
    if (error instanceof ConditionFailedError) return false;
    throw error;
  }
}
