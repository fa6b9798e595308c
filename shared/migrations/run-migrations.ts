import * as v from 'valibot';
import { log } from '../logger.ts';
import { migrationKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { deadlineOf, queryPartition, type Table } from '../table/table.ts';
import { ConditionFailedError, transact } from '../table/transaction.ts';
import type { Migration } from './migration.ts';
import { migrations as allMigrations } from './migrations.ts';

const migrationState = v.object({
  /** The time of the first call that knew the migration: RFC 3339, UTC, milliseconds. */
  seen_at: v.string(),
  done_at: v.optional(v.string()),
  /** Where the next step starts; absent before the first step. */
  cursor: v.optional(v.object({ pk: v.string(), sk: v.string() })),
  /** The number of recorded steps. */
  steps: v.number(),
  /** The number of items that the recorded steps changed. A step that died before it was recorded may have changed more. */
  changed: v.number(),
});
type MigrationState = v.InferOutput<typeof migrationState>;

interface Options {
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** The time from `seen_at` until a migration starts. Until then, functions of the previous version may still write. */
  graceInSeconds: number;
  /** Default: all migrations of the service. */
  migrations?: readonly Migration[];
}

/** No step starts with less time left. */
const stepTimeInMilliseconds = 4_000;

/**
 * Continues the migrations, all of which are seen at the first call, until all are done or the caller's time is nearly over. Each step is recorded after it is done, so a
 * crash repeats one step at most. Two runners at once repeat each other's steps, which is harmless, until the record of one fails
 * and it leaves the rest to the other. Takes one read if nothing is left to do.
 * @returns the number of migrations that are not done
 */
export async function runMigrations(table: Table, options: Options): Promise<number> {
  const { migrations = allMigrations } = options;
  const items = await queryPartition(table, migrationKeys.partition);
  const states = new Map(items.map((item) => [item['sk'], parseStored(migrationState, item, 'state of a migration')]));
  const open = migrations.filter(({ name }) => states.get(name)?.done_at === undefined);
  const unseen = open.filter(({ name }) => !states.has(name));
  for (const migration of unseen) {
    const state = { seen_at: options.now, steps: 0, changed: 0 };
    if (!(await recordStep(table, migration, undefined, state))) return open.length;
    states.set(migration.name, state);
  }
  for (const [index, migration] of open.entries()) {
    const state = states.get(migration.name);
    if (!state || !(await continueMigration(table, migration, state, options))) return open.length - index;
  }
  return 0;
}

/** Continues one migration. @returns whether it is done */
async function continueMigration(
  table: Table,
  migration: Migration,
  before: MigrationState,
  { now, graceInSeconds }: Options,
): Promise<boolean> {
  let state = before;
  const waitsUntil = Date.parse(state.seen_at) + graceInSeconds * 1000;
  if (state.steps === 0 && Date.parse(now) < waitsUntil) return false;
  while (state.done_at === undefined && deadlineOf(table).remaining >= stepTimeInMilliseconds) {
    const { next: cursor, changed, isUnfinished = false, isTakenOver = false } = await migration.step(table, state.cursor);
    if (isTakenOver) return false;
    const after = { ...state, cursor, steps: state.steps + 1, changed: state.changed + changed };
    if (!cursor && !isUnfinished) after.done_at = now;
    if (!(await recordStep(table, migration, state, after))) return false;
    state = after;
  }
  const { steps, changed, done_at } = state;
  log('INFO', 'A migration made progress.', { migration: migration.name, steps, changed, done: done_at !== undefined });
  return done_at !== undefined;
}

/** Records the state. @returns false if another runner has recorded one since `before` was read: it continues in place of this one */
async function recordStep(
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
