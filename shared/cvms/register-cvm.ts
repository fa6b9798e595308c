import { preconditionFailed } from '../errors.ts';
import { nextNumber } from '../lists/next-number.ts';
import { commitChange, type AnsweredRequest, type Committed } from '../table/commit-change.ts';
import { lists } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { withFreshReads } from '../table/fresh-reads.ts';
import { Transaction } from '../table/transaction.ts';
import { laterOf } from '../timestamp.ts';
import { certificateFingerprint } from './certificate-fingerprint.ts';
import { addCvm, changeCvm } from './change-cvm.ts';
import type { Cvm, CvmInput, StoredCvm } from './cvm.ts';
import { describeCvm, readCvmAndClaim } from './read-cvm.ts';

interface RegisterRequest extends AnsweredRequest {
  domain: string;
  cvmId: string;
  given: CvmInput;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
  /** Returns whether the request's If-Match names this state. Omit without the header. */
  matchesIfMatch?: ((cvm: Cvm) => boolean) | undefined;
}

interface Registered {
  cvm: Cvm;
  isNew: boolean;
}

/**
 * Registers a CVM, or replaces its description and certificate. Without `certificate`, that stays the same. A request that changes
 * nothing writes nothing. Two round trips, or three for a new CVM.
 * @throws ServiceError `invalid_request`; `precondition_failed`, also if If-Match was sent and the CVM is not registered
 */
export async function registerCvm(table: Table, request: RegisterRequest): Promise<Committed<Registered>> {
  const { domain, cvmId, given, now, matchesIfMatch, answerKeeper } = request;
  const fingerprint = given.certificate ? certificateFingerprint(given.certificate) : given.certificate;
  let number: number | undefined;
  return await withFreshReads(table, async (table) => {
    const { cvm, ...rest } = await readCvmAndClaim(table, { domain, cvmId });
    if (matchesIfMatch && !(cvm && matchesIfMatch(describeCvm(cvm, rest, now)))) throw preconditionFailed();
    const transaction = new Transaction();
    if (cvm) {
      const next = replaced(transaction, domain, cvm, { description: given.description, fingerprint, now });
      return await commitChange(table, transaction, { cvm: describeCvm(next, rest, now), isNew: false }, answerKeeper);
    }
    number ??= await nextNumber(table, lists.cvms(domain));
    const added: StoredCvm = {
      id: cvmId,
      description: given.description,
      certificate_fingerprint: fingerprint ?? null,
      created_at: now,
      updated_at: now,
      listed_as: number,
      version: 1,
    };
    addCvm(transaction, domain, added);
    return await commitChange(table, transaction, { cvm: describeCvm(added, rest, now), isNew: true }, answerKeeper);
  });
}

/** Adds the change of a registered CVM, if anything changes. @returns the CVM after it */
function replaced(
  transaction: Transaction,
  domain: string,
  cvm: StoredCvm,
  { description, fingerprint, now }: { description: string; fingerprint: string | null | undefined; now: string },
): StoredCvm {
  const certificate_fingerprint = fingerprint === undefined ? cvm.certificate_fingerprint : fingerprint;
  if (description === cvm.description && certificate_fingerprint === cvm.certificate_fingerprint) return cvm;
  return changeCvm(transaction, domain, cvm, { description, certificate_fingerprint, updated_at: laterOf(cvm.updated_at, now) });
}
