import { cvmKeys } from '../table/keys.ts';
import { setAttributes } from '../table/set-attributes.ts';
import type { Item, Table } from '../table/table.ts';
import { updateExisting } from '../table/writes.ts';
import { StaleReadError, type Transaction } from '../table/transaction.ts';
import { isSpentBy, parsePresence, presenceToStore, type ReportedState } from './presence.ts';
import type { RunReference } from './run-reference.ts';

interface Heard {
  domain: string;
  cvmId: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** The gateway that heard it. Default: it called itself. */
  by?: string | undefined;
}

/**
 * Notes that a CVM was heard. Writes nothing for a CVM that is not registered, and at most twice a minute for one that says
 * nothing new, or never if the gateway that heard it holds it.
 * @param item what was read at `cvmKeys.cvm`
 */
export async function notePresence(
  table: Table,
  { domain, cvmId, now, by }: Heard,
  item: Item | undefined,
  reported: ReportedState = {},
): Promise<void> {
  const changes = item && presenceToStore(parsePresence(item), reported, now, by);
  if (changes) await updateExisting(table, cvmKeys.cvm(domain, cvmId), setAttributes({ ...changes }));
}

/**
 * Notes in the transaction that ends a run that it leaves the CVM's agent spent, if so (see isSpentBy). Fails with StaleReadError
 * if the CVM has reported its fitness since it was read.
 * @param item what was read at `cvmKeys.cvm`
 */
export function noteSpent(
  transaction: Transaction,
  { domain, cvm_id }: RunReference,
  { item, acceptedAt, now }: { item: Item | undefined; acceptedAt: string | undefined; now: string },
): void {
  const presence = item && parsePresence(item);
  if (!presence || acceptedAt === undefined || !isSpentBy(presence, acceptedAt)) return;
  const set = setAttributes({ fit: 'spent', fit_at: now });
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
