import * as v from 'valibot';
import { computationNumber } from '../computations/read-computation.ts';
import { runKey } from '../runs/read-run.ts';
import { numberOf } from '../identifiers.ts';
import { assetKeys, computationKeys, journalKeys, listKeys, lists, purgeKeys, runKeys } from '../table/keys.ts';
import { removeFromList } from '../table/listing.ts';
import { queryPrefix, type Table } from '../table/table.ts';
import { ConditionFailedError, transact, type Action } from '../table/transaction.ts';
import { deletePartition } from './delete-partition.ts';

export const computationPurge = v.object({ domain: v.string(), id: v.string() });
export type ComputationPurge = v.InferOutput<typeof computationPurge>;

/** Removes the runs and links of a deleted computation from the lists they stand in: what readers could still see. */
export async function purgeListings(table: Table, { domain, id }: ComputationPurge): Promise<void> {
  const snapshots = await queryPrefix(table, runKeys.partition(id), runKeys.prefixes.snapshot, { attributes: ['run_id'] });
  for (const snapshot of snapshots) {
    const runId = String(snapshot['run_id']);
    const [key, number] = [runKey(domain, runId), numberOf(runId)];
    if (!key || number === undefined) throw new Error('A snapshot names no run of this service.');
    await once(table, [
      { delete: { Key: key, ConditionExpression: 'attribute_exists(pk)' } },
      ...removeFromList(lists.runs(domain), number),
    ]);
  }
  const links = await queryPrefix(table, computationKeys.partition(id), computationKeys.prefixes.part);
  for (const link of links.filter((item) => 'asset_id' in item)) {
    const list = lists.linkedComputations(String(link['asset_id']));
    const member = computationNumber(id);
    await once(table, [
      { delete: { Key: listKeys.row(list, member), ConditionExpression: 'attribute_exists(pk)' } },
      ...removeFromList(list, member),
    ]);
  }
}

/** Removes everything that a deleted computation left behind. Safe to repeat and to interrupt. */
export async function purgeComputation(table: Table, purge: ComputationPurge): Promise<void> {
  await purgeListings(table, purge);
  for (const use of await queryPrefix(table, runKeys.partition(purge.id), runKeys.prefixes.use)) {
    await transact(table, [{ delete: { Key: assetKeys.use(String(use['asset_id']), String(use['run_id'])) } }]);
  }
  await deletePartition(table, computationKeys.partition(purge.id));
  await deletePartition(table, journalKeys.partition(purge.id));
  await deletePartition(table, runKeys.partition(purge.id));
  await transact(table, [{ delete: { Key: purgeKeys.purge('computation', purge.id) } }]);
}

/** The actions, unless an interrupted purge has done them before: the first one's condition tells. */
async function once(table: Table, actions: Action[]): Promise<void> {
  try {
    await transact(table, actions);
  } catch (error) {
    if (!(error instanceof ConditionFailedError)) throw error;
  }
}
