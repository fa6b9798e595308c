import { parseStored } from '../table/parse-stored.ts';
import { cvmKeys } from '../table/keys.ts';
import { getItems, queryPartition, type Table } from '../table/table.ts';
import { type Command, commandSchema } from './command.ts';
import { parseSnapshot, snapshotKeys } from './snapshot.ts';

/** Lists the commands for a CVM that have not expired, oldest first. Two round trips; only one if there are none. */
export async function listCommands(table: Table, domain: string, cvmId: string, now: string): Promise<Command[]> {
  const items = await queryPartition(table, cvmKeys.commands(domain, cvmId));
  const commands = items
    .map((item) => parseStored(commandSchema, item, 'command'))
    .filter((command) => command.expires_at > now)
    .sort((a, b) => a.issued_at.localeCompare(b.issued_at));
  const snapshots = await getItems(table, commands.flatMap(snapshotKeys));
  return commands.map((command, index) => {
    if (command.type === 'stop') return command;
    const { manifest, agent_config } = parseSnapshot(snapshots.slice(2 * index, 2 * index + 2));
    return { ...command, manifest, agent_config };
  });
}
