import * as v from 'valibot';
import { log } from '../logger.ts';
import { cvmKeys } from '../table/keys.ts';
import { parseStored } from '../table/parse-stored.ts';
import { queryPartition, type Item, type Table } from '../table/table.ts';
import { runReference } from './run-reference.ts';

const pendingCommand = v.object({
  ...runReference.entries,
  id: v.string(),
  type: v.picklist(['run', 'stop']),
  expires_at: v.string(),
});

/** A command that its CVM has not answered. */
export type PendingCommand = v.InferOutput<typeof pendingCommand>;

/**
 * Lists the commands of all domains that no CVM has answered and that have not expired. One round trip. Costs 4 read units, and
 * more only while hundreds of commands are pending, so the number of CVMs does not matter. Leaves out a command that it cannot read,
 * such as one of a newer version: it must not keep the others back.
 */
export async function listPendingCommands(table: Table, now: string): Promise<PendingCommand[]> {
  const shards = await Promise.all(cvmKeys.pendingShards.map((shard) => queryPartition(table, shard)));
  return shards
    .flat()
    .flatMap(readable)
    .filter((command) => command.expires_at > now);
}

function readable(item: Item): PendingCommand[] {
  try {
    return [parseStored(pendingCommand, item, 'pending command')];
  } catch (error) {
    log('ERROR', 'A pending command cannot be read and is left out.', { key: String(item['sk']) }, error);
    return [];
  }
}
