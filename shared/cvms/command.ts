import * as v from 'valibot';
import { agentConfigInput } from '../computations/agent-config.ts';
import { parseStored } from '../events/parse-stored.ts';
import { manifestSchema } from '../manifest/manifest.ts';
import { cvmKeys, runKeys } from '../table/keys.ts';
import { getItems, queryItems, type Table } from '../table/table.ts';
import { identifier, timestamp } from '../text.ts';

/** What a CVM is asked to do (endpoint 25). */
export const commandSchema = v.object({
  id: v.pipe(v.string(), v.uuid()),
  type: v.picklist(['run', 'stop']),
  run_id: identifier,
  computation_id: identifier,
  manifest: v.optional(manifestSchema),
  agent_config: v.optional(v.object(agentConfigInput.entries)),
  issued_at: timestamp,
  expires_at: v.pipe(timestamp, v.description('It comes back until it is accepted or rejected, or until then.')),
});
export type Command = v.InferOutput<typeof commandSchema>;

const offeredRun = v.object({
  ...commandSchema.entries,
  manifest: manifestSchema,
  agent_config: v.object(agentConfigInput.entries),
});

/** The commands that wait for a CVM, oldest first. One round trip when none does, two where a run is offered. */
export async function listCommands(table: Table, domain: string, cvmId: string, now: string): Promise<Command[]> {
  const items = await queryItems(table, {
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': cvmKeys.commands(domain, cvmId) },
  });
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
