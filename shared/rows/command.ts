import { described, namedObject } from 'computation-management-formats/fields';
import { idOfComputation, idOfRun } from 'computation-management-formats/identifiers';
import { timestamp } from 'computation-management-formats/timestamps';
import * as v from 'valibot';
import { agentConfigForCvm, type StoredAgentConfig } from './agent-config.ts';
import { type RunReference, runReference } from './run.ts';
import { manifestSchema } from './manifest.ts';
import { log } from '../runtime/log.ts';
import { cvmKeys } from '../table/keys.ts';
import { type Table, type Item, queryPartitions } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import { parseStored } from '../table/stored.ts';

export const commandSchema = namedObject('Command', 'A command for a CVM.', {
  id: v.pipe(v.string(), v.uuid(), v.description('The identifier of the command, for the report that answers it.')),
  type: described(v.picklist(['run', 'stop']), 'Whether to begin the run or to stop it.'),
  run_id: idOfRun,
  computation_id: idOfComputation,
  manifest: v.optional(manifestSchema),
  agent_config: v.optional(agentConfigForCvm),
  issued_at: described(timestamp, 'The time at which the service made the command.'),
  expires_at: described(timestamp, 'The service returns the command until this time, or until the CVM accepts or rejects it.'),
});
export type Command = v.InferOutput<typeof commandSchema>;

/**
 * An open command as gateways get it: with the hash of the attestation token of a run that has a policy, the agent process that
 * sent it, and what the policy allows, which the answer of endpoint 25 (list commands) does not have.
 */
export type OpenCommand = Command & {
  token_hash?: string | undefined;
  process?: string | undefined;
  allow_reconnect?: boolean | undefined;
  allow_used_guest?: boolean | undefined;
};

/** An open command for a CVM with the agent's private key still encrypted. */
export type KeptCommand = Omit<OpenCommand, 'agent_config'> & { agent_config?: StoredAgentConfig };

type CommandType = Command['type'];

/** Adds a command for the CVM of a run to the transaction, with the item that tells gateways of it. */
export function addCommand(
  transaction: Transaction,
  run: RunReference,
  { type, id, now, lifetimeInSeconds }: { type: CommandType; id: string; now: string; lifetimeInSeconds: number },
): void {
  const { domain, computation_id, run_id, cvm_id } = run;
  const command = {
    id,
    type,
    run_id,
    computation_id,
    issued_at: now,
    expires_at: new Date(Date.parse(now) + lifetimeInSeconds * 1000).toISOString(),
  };
  transaction.add({ put: { Item: { ...cvmKeys.command(run, type), ...command } } });
  transaction.add({ put: { Item: { ...cvmKeys.pending(run, type), domain, cvm_id, ...command } } });
}

/** Removes a command for the CVM of a run, with the item that tells gateways of it. */
export function removeCommand(transaction: Transaction, run: RunReference, type: CommandType): void {
  transaction.add({ delete: { Key: cvmKeys.command(run, type) } });
  transaction.add({ delete: { Key: cvmKeys.pending(run, type) } });
}

const pendingCommand = v.object({
  ...runReference.entries,
  id: v.string(),
  type: v.picklist(['run', 'stop']),
  expires_at: v.string(),
});

/** The item that tells gateways that a CVM has a command. */
export type PendingCommand = v.InferOutput<typeof pendingCommand>;

/**
 * Lists the commands of all CVMs that are unanswered and have not expired. Takes one round trip and 4 read units, more only while
 * hundreds are pending. Leaves out a command that cannot be read, so that it does not delay the others.
 */
export async function listPendingCommands(table: Table, now: string): Promise<PendingCommand[]> {
  const items = await queryPartitions(table, cvmKeys.pendingShards);
  return items.flatMap(readable).filter((command) => command.expires_at > now);
}

function readable(item: Item): PendingCommand[] {
  try {
    return [parseStored(pendingCommand, item, 'pending command')];
  } catch (error) {
    log('ERROR', 'A pending command cannot be read and is left out.', { key: String(item['sk']) }, error);
    return [];
  }
}
