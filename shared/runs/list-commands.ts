import * as v from 'valibot';
import { agentConfigInput } from '../computations/agent-config.ts';
import { parseStored } from '../table/parse-stored.ts';
import { manifestSchema } from '../manifest/manifest.ts';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { getItems, queryPartition, type Table } from '../table/table.ts';
import { type Command, commandSchema } from './command.ts';

const offeredRun = v.object({
  ...commandSchema.entries,
  manifest: manifestSchema,
  agent_config: v.object(agentConfigInput.entries),
});

/** The commands that wait for a CVM, oldest first. One round trip when none does, two where a run is offered. */
export async function listCommands(table: Table, domain: string, cvmId: string, now: string): Promise<Command[]> {
  const items = await queryPartition(table, cvmKeys.commands(domain, cvmId));
  const open = items
    .map((item) => parseStored(commandSchema, item, 'command'))
    .filter((command) => command.expires_at > now)
    .sort((a, b) => a.issued_at.localeCompare(b.issued_at));
  const snapshots = await getItems(
    table,
    open.map((command) => runKeys.snapshot(command.computation_id, command.run_id)),
  );
  return open.map((command, index) => {
    if (command.type === 'stop') return command;
    const { manifest, agent_config } = snapshots[index] ?? {};
    return parseStored(offeredRun, { ...command, manifest, agent_config }, 'run command');
  });
}
