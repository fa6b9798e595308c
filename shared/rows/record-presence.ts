import type { RunReference } from './run.ts';
import { StaleReadError } from '../table/fresh-reads.ts';
import { cvmKeys } from '../table/keys.ts';
import type { Item, Table } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import { setAttributes, updateExisting, updateIf, type WriteCondition } from '../table/writes.ts';
import { isSpentBy, parsePresence, presenceToStore, type ReportedState, type StoredPresence } from './presence.ts';

interface Heard {
  domain: string;
  cvmId: string;
  now: string;
  by?: string | undefined;
}

/**
 * At most twice a minute if it says nothing new, never if its gateway holds it.
 * @param item at `cvmKeys.cvm`
 */
export async function recordPresence(
  table: Table,
  { domain, cvmId, now, by }: Heard,
  item: Item | undefined,
  reported: ReportedState = {},
): Promise<void> {
  const stored = item && parsePresence(item);
  const changes = stored && presenceToStore(stored, reported, now, by);
  if (!changes) return;
  const key = cvmKeys.cvm(domain, cvmId);
  const update = setAttributes({ ...changes });
  if (by === undefined || changes.fit !== 'busy') await updateExisting(table, key, update);
  else await updateIf(table, key, update, unchangedFit(stored));
}

/**
 * Of an agent that was `ready`, also that it is busy. If it restarts and is `ready` again, that is then new, so the end of the run does
 * not leave it spent.
 * @param item at `cvmKeys.cvm`
 */
export async function recordTaken(
  table: Table,
  { domain, cvmId, now }: Heard,
  { item, acceptedAt, reported }: { item: Item | undefined; acceptedAt: string; reported: ReportedState },
): Promise<void> {
  const stored = item && parsePresence(item);
  if (!stored || stored.had_run) return;
  const key = cvmKeys.cvm(domain, cvmId);
  if ((reported.fit ?? stored.fit) !== 'ready') await updateExisting(table, key, setAttributes({ had_run: true }));
  else if ((stored.fit_at ?? '') <= acceptedAt)
    await updateIf(table, key, setAttributes({ fit: 'busy', fit_at: now, had_run: true }), unchangedFit(stored));
}

/** Unless another report, or the end of a run, has changed the fitness since it was read. */
function unchangedFit({ fit_at }: StoredPresence): WriteCondition {
  if (fit_at === undefined) return { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(fit_at)' };
  return { ConditionExpression: 'fit_at = :read_fit_at', ExpressionAttributeValues: { ':read_fit_at': fit_at } };
}

/**
 * In the transaction that ends a run. Throws StaleReadError if the CVM has reported its fitness since it was read.
 * @param item at `cvmKeys.cvm`
 */
export function recordSpent(
  transaction: Transaction,
  { domain, cvm_id }: RunReference,
  { item, acceptedAt, now }: { item: Item | undefined; acceptedAt: string | undefined; now: string },
): void {
  const presence = item && parsePresence(item);
  if (!presence || acceptedAt === undefined || !isSpentBy(presence, acceptedAt)) return;
  const set = setAttributes({ fit: 'spent', fit_at: now, had_run: true });
  transaction.add({
    update: {
      ...set,
      Key: cvmKeys.cvm(domain, cvm_id),
      ConditionExpression: 'fit_at = :fit_at',
      ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ':fit_at': presence.fit_at },
    },
    otherwise: new StaleReadError(),
  });
}
