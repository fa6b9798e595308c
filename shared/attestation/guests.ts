import { createHash } from 'node:crypto';
import { guestKeys } from '../table/keys.ts';
import type { RunReference } from '../rows/run.ts';
import type { Check } from 'computation-management-attestation';
import type { TokenOfProcess } from '../rows/agent-tokens.ts';
import { type Item, type Table, getItems } from '../table/table.ts';
import type { Action } from '../table/transaction.ts';

type UsingRun = Pick<RunReference, 'domain' | 'run_id'>;

// A hash: the item outlives the domain, whose other data are removed with it.
const hashOf = ({ domain, run_id }: UsingRun) => createHash('sha256').update(`${domain} ${run_id}`).digest('hex');

/**
 * Returns the action that records that a run uses an SNP guest. Of several runs, the first one stays recorded, in whichever domain
 * it was: what ran in a guest may still be there.
 * @param guest the REPORT_ID of the guest in hex
 * @param mustBeFirst true: the transaction fails with ConditionFailedError if another run was the first
 */
export function useOfGuest(guest: string, run: UsingRun, mustBeFirst: boolean): Action {
  const update = {
    Key: guestKeys.guest(guest),
    UpdateExpression: 'SET first_run = if_not_exists(first_run, :run)',
    ...(mustBeFirst ? { ConditionExpression: 'attribute_not_exists(first_run) OR first_run = :run' } : {}),
    ExpressionAttributeValues: { ':run': hashOf(run) },
  };
  return { update };
}

/**
 * Lists the REPORT_IDs of the SNP guests whose own evidence some attestation tokens are: signed, and over the certificate of the
 * CVM. The evidence of another machine, which anyone may read and send, thus marks no guest as used.
 */
export function guestsIn(tokens: readonly TokenOfProcess[]): string[] {
  const passed = (checks: Check[], name: string) => checks.some((check) => check.name === name && check.passed);
  // Of evidence with the quote of a vTPM, the quote is over the certificate, and on Azure nothing else is.
  const isOwn = ({ attestation }: TokenOfProcess) =>
    attestation !== null &&
    passed(attestation.checks, 'report_data') &&
    (attestation.pcrs !== null || !attestation.checks.some(({ name }) => name === 'quote')) &&
    attestation.checks.every(({ name, passed }) => name !== 'quote_nonce' || passed);
  return [...new Set(tokens.filter(isOwn).flatMap(({ attestation }) => attestation?.guest ?? []))].sort();
}

/**
 * Returns whether a run is the first one that an SNP guest was given, of all domains.
 * @param item the item at `guestKeys.guest`
 */
export const isFirstRunIn = (item: Item | undefined, run: UsingRun) => item?.['first_run'] === hashOf(run);

/** Reads which of the given SNP guests a run of any domain has used. One round trip, or none without a guest. */
export async function usedGuests(table: Table, guests: readonly string[]): Promise<string[]> {
  if (guests.length === 0) return [];
  const items = await getItems(table, guests.map(guestKeys.guest));
  return guests.filter((_, index) => items[index] !== undefined);
}
