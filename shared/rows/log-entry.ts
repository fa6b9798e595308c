import { randomBytes } from 'node:crypto';
import { toHex } from 'computation-management-formats/bytes';
import { lengthOfSalt, logEntry, logTag } from 'computation-management-formats/log-entry';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { historyKeys } from '../table/keys.ts';
import { parseStored, storedBytes } from '../table/stored.ts';
import type { Item } from '../table/table.ts';
import type { Transaction } from '../table/transaction.ts';
import type { Run } from './run.ts';

/** Returns a new salt of an entry of the stage's log. It hides the entry from readers of the log who do not get the evidence. */
export const newSalt = (): Uint8Array => randomBytes(lengthOfSalt);

/** An event of a run that has an entry in the stage's log. */
interface LoggedEvent {
  type: LoggedAct;
  domain: string;
  run: Pick<Run, 'id' | 'computation_id'>;
  salt: Uint8Array;
  /** The hash of the event in the journal, hex. */
  event_hash: string;
}

/**
 * Adds an entry of the stage's log to the transaction of its event. It waits in the table until it is integrated into the log.
 * Costs two write units.
 */
export function addLogEntry(transaction: Transaction, { salt, event_hash, ...of }: LoggedEvent, now: string): void {
  const tag = tagOf(of);
  const Item = { ...historyKeys.waiting(toHex(tag)), entry: logEntry({ tag, salt, event_hash }), waits_since: now };
  transaction.add({ put: { Item } });
}

/** Returns the tag under which the stage's log has an entry of a run, 32 bytes. */
export function tagOf({ type, domain, run }: Pick<LoggedEvent, 'type' | 'domain' | 'run'>): Uint8Array {
  return logTag({ type, domain, computation: run.computation_id, run: run.id });
}

const storedSalts = v.object({ start_salt: storedBytes, end_salt: storedBytes, result_salt: v.optional(storedBytes) });

/**
 * Parses the salts of a run that has ended: of its start, its end and, once it is released or withheld, its result.
 * @param item the row of the run
 */
export function saltsOf(item: Item | undefined): Record<LoggedAct, Uint8Array | undefined> {
  const { start_salt, end_salt, result_salt } = parseStored(storedSalts, item, 'row of an ended run');
  return { 'run-start': start_salt, 'run-end': end_salt, result: result_salt };
}
