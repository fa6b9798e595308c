import { systemClock } from '../clock.ts';
import { log } from '../logger.ts';
import { dueFoldKeys, type Key } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import { putItem, putItemIf } from '../table/writes.ts';
import type { ListIndex } from './list-index.ts';

/**
 * Two folds at the same time write the same nodes and delete the same entries, and one of them in vain. So a fold that a change
 * starts, not the schedule, begins only in a turn of its own, even if it only ages earlier folds. A turn is longer than a fold
 * takes. It is shorter if the fold ends it: folded entries are in the log, and cost every read, until a later fold deletes them.
 */
const turnInMilliseconds = { longest: 3_000, shortest: 1_000 };

/** The mark of an index for the scheduled fold, with the turn of the fold that set it. */
export type Turn = Item & Key & { marked_at: number; turn_until: number };

function newTurn(table: Table, index: ListIndex): Turn {
  const now = (table.clock ?? systemClock).now();
  return { ...dueFoldKeys.mark(index), marked_at: now, turn_until: now + turnInMilliseconds.longest };
}

/** Has the schedule fold what is in the log of an index, and begins a turn. */
export async function markIndex(table: Table, index: ListIndex): Promise<Turn> {
  const turn = newTurn(table, index);
  await putItem(table, turn);
  return turn;
}

/** Has the schedule fold an index that it does not know of. */
export async function markIfUnmarked(table: Table, index: ListIndex): Promise<void> {
  const { pk, sk, marked_at } = newTurn(table, index);
  await putItemIf(table, { pk, sk, marked_at }, { ConditionExpression: 'attribute_not_exists(pk)' });
}

/** Marks the index and begins a turn, unless that of another fold is not over. */
export async function takeTurn(table: Table, index: ListIndex): Promise<Turn | undefined> {
  const turn = newTurn(table, index);
  const isFree = await putItemIf(table, turn, {
    ConditionExpression: 'attribute_not_exists(turn_until) OR turn_until <= :now',
    ExpressionAttributeValues: { ':now': turn.marked_at },
  });
  return isFree ? turn : undefined;
}

/** Ends a turn, but not within a second of its beginning. Leaves the next one as it is if that has begun. A turn ends by itself, too. */
export async function endTurn(table: Table, turn: Turn): Promise<void> {
  const ended: Turn = { ...turn, turn_until: turn.marked_at + turnInMilliseconds.shortest };
  const isOwn = { ConditionExpression: 'turn_until = :own', ExpressionAttributeValues: { ':own': turn.turn_until } };
  await putItemIf(table, ended, isOwn).catch((error: unknown) => {
    log('WARN', 'The turn of a fold was not ended.', { index: turn.sk }, error);
  });
}
