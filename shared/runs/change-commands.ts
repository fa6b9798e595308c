import { cvmKeys } from '../table/keys.ts';
import type { Transaction } from '../table/transaction.ts';
import type { Command } from './command.ts';
import type { RunReference } from './run-reference.ts';

type CommandType = Command['type'];

/** Adds a command for the run's CVM, and the notice of it for gateways. It expires `lifetimeInSeconds` after `now`. */
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

/** Removes a command that was withdrawn or answered. Does nothing if it does not exist. */
export function removeCommand(transaction: Transaction, run: RunReference, type: CommandType): void {
  transaction.add({ delete: { Key: cvmKeys.command(run, type) } });
  transaction.add({ delete: { Key: cvmKeys.pending(run, type) } });
}
