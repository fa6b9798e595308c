import { createHash } from 'node:crypto';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { laterOf } from 'computation-management-formats/timestamps';
import { refusedAt } from '../rows/public-key.ts';
import { preconditionFailed, conflict, notFound } from '../runtime/errors.ts';
import { nextNumber, setAttributes } from '../table/writes.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { assertUnclaimed } from '../rows/claim.ts';
import {
  commitChange,
  type AnsweredRequest,
  type Committed,
  Transaction,
  withFreshReads,
  StaleReadError,
} from '../table/transaction.ts';
import { lists, cvmKeys, listKeys } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { Cvm, CvmInput, StoredCvm } from '../rows/cvm.ts';
import { schemaAttribute } from '../table/stored.ts';
import { describeCvm, readCvmAndClaim } from './read-cvms.ts';

interface RegisterRequest extends AnsweredRequest {
  domain: string;
  cvmId: string;
  given: CvmInput;
  now: string;
  matchesIfMatch?: ((cvm: Cvm) => boolean) | undefined;
}

interface Registered {
  cvm: Cvm;
  isNew: boolean;
}

/**
 * Registers a CVM, or replaces its description and, if given, its certificate. Writes nothing if nothing changes. Two round
 * trips, or three for a new CVM.
 * @throws ServiceError `invalid_request`; `precondition_failed`, also if If-Match was sent and the CVM is not registered
 */
export async function registerCvm(table: Table, request: RegisterRequest): Promise<Committed<Registered>> {
  const { domain, cvmId, given, now, matchesIfMatch, answerKeeper } = request;
  const change = changeOf(given);
  let number: number | undefined;
  return await withFreshReads(table, async (table) => {
    const { cvm, ...rest } = await readCvmAndClaim(table, { domain, cvmId });
    if (matchesIfMatch && !(cvm && matchesIfMatch(describeCvm(cvm, rest, now)))) throw preconditionFailed();
    const transaction = new Transaction();
    if (cvm) {
      const next = replaced(transaction, domain, cvm, change, now);
      return await commitChange(table, transaction, { cvm: describeCvm(next, rest, now), isNew: false }, answerKeeper);
    }
    number ??= await nextNumber(table, lists.cvms(domain));
    const added: StoredCvm = {
      id: cvmId,
      certificate: null,
      certificate_fingerprint: null,
      certificate_sha512: null,
      agent_url: null,
      attestation: null,
      ...change,
      created_at: now,
      updated_at: now,
      listed_as: number,
      version: 1,
    };
    addCvm(transaction, domain, added);
    return await commitChange(table, transaction, { cvm: describeCvm(added, rest, now), isNew: true }, answerKeeper);
  });
}

type Change = Pick<StoredCvm, 'description'> &
  Partial<Pick<StoredCvm, 'certificate' | 'certificate_fingerprint' | 'certificate_sha512' | 'agent_url'>>;

/**
 * Returns the properties of a CVM that a request to register it changes, without properties that the request omits.
 * @throws ServiceError `invalid_request` if the certificate is invalid
 */
function changeOf({ description, certificate, agent_url }: CvmInput): Change {
  const ofCertificate = certificate
    ? {
        certificate,
        certificate_fingerprint: refusedAt('/certificate', () => fingerprintOfCertificate(certificate)),
        certificate_sha512: createHash('sha512').update(certificate).digest('hex'),
      }
    : { certificate: null, certificate_fingerprint: null, certificate_sha512: null };
  return {
    description,
    ...(certificate === undefined ? {} : ofCertificate),
    ...(agent_url === undefined ? {} : { agent_url }),
  };
}

/**
 * Adds to the transaction the change of a registered CVM, if anything changes. A new certificate removes the attestation, which
 * is bound to one certificate.
 * @returns the CVM after the change
 */
function replaced(transaction: Transaction, domain: string, cvm: StoredCvm, change: Change, now: string): StoredCvm {
  const next = { ...cvm, ...change };
  const isOfCertificate = next.certificate_sha512 !== cvm.certificate_sha512;
  if (next.description === cvm.description && next.agent_url === cvm.agent_url && !isOfCertificate) return cvm;
  return changeCvm(transaction, domain, cvm, {
    ...change,
    ...(isOfCertificate ? { attestation: null } : {}),
    updated_at: laterOf(cvm.updated_at, now),
  });
}

interface DeleteRequest extends AnsweredRequest {
  domain: string;
  cvmId: string;
  now: string;
  matchesIfMatch?: ((cvm: Cvm) => boolean) | undefined;
}

/**
 * Deletes a registered CVM with its signs of life. Two round trips.
 * @throws ServiceError `not_found`; `conflict` while a run holds it; `precondition_failed`
 */
export async function deleteCvm(
  table: Table,
  { domain, cvmId, now, matchesIfMatch, answerKeeper }: DeleteRequest,
): Promise<Committed<object>> {
  return await withFreshReads(table, async (table) => {
    const { cvm, ...rest } = await readCvmAndClaim(table, { domain, cvmId });
    if (!cvm) throw notFound('registered CVM');
    if (rest.claim)
      throw conflict('cvm_busy', `A run holds the CVM ${cvmId}. Wait until it ends, or stop it.`, rest.claim.run_id);
    if (matchesIfMatch && !matchesIfMatch(describeCvm(cvm, rest, now))) throw preconditionFailed();
    const transaction = new Transaction();
    removeCvm(transaction, domain, cvm);
    assertUnclaimed(transaction, { domain, cvm_id: cvmId });
    return await commitChange(table, transaction, {}, answerKeeper);
  });
}

/**
 * Adds a new CVM and its place in the list of CVMs to the transaction, which throws StaleReadError if the CVM has been registered
 * since it was read.
 */
function addCvm(transaction: Transaction, domain: string, cvm: StoredCvm): void {
  const { id, listed_as } = cvm;
  const Item = { ...cvmKeys.cvm(domain, id), ...schemaAttribute, ...cvm };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() });
  const row = { ...listKeys.row(lists.cvms(domain), listed_as), id };
  transaction.add({ put: { Item: row, ConditionExpression: 'attribute_not_exists(pk)' } });
  recordInList(transaction, domain, cvm, { now: 'all' });
}

/**
 * Adds a change of a CVM to the transaction, which throws StaleReadError if the CVM has changed since it was read.
 * @returns the CVM after the change
 */
export function changeCvm(
  transaction: Transaction,
  domain: string,
  cvm: StoredCvm,
  change: Partial<Omit<StoredCvm, 'id' | 'listed_as' | 'version'>>,
): StoredCvm {
  const changes = { ...change, version: cvm.version + 1 };
  const set = setAttributes(changes);
  const guard = unchanged(cvm);
  const update = {
    ...set,
    ...guard,
    ExpressionAttributeValues: { ...set.ExpressionAttributeValues, ...guard.ExpressionAttributeValues },
    Key: cvmKeys.cvm(domain, cvm.id),
  };
  transaction.add({ update, otherwise: new StaleReadError() });
  return { ...cvm, ...changes };
}

/**
 * Adds the removal of a CVM and of its place in the list of CVMs to the transaction, which throws StaleReadError if the CVM has
 * changed since it was read.
 */
export function removeCvm(transaction: Transaction, domain: string, cvm: StoredCvm): void {
  transaction.add({ delete: { Key: cvmKeys.cvm(domain, cvm.id), ...unchanged(cvm) }, otherwise: new StaleReadError() });
  transaction.add({ delete: { Key: listKeys.row(lists.cvms(domain), cvm.listed_as) } });
  recordInList(transaction, domain, { ...cvm, version: cvm.version + 1 }, { before: 'all' });
}

/** Adds to the transaction that the list of CVMs of a domain has gained or lost a CVM. @param cvm after the change */
function recordInList(
  transaction: Transaction,
  domain: string,
  { listed_as, version }: StoredCvm,
  change: { before?: 'all'; now?: 'all' },
): void {
  recordMember(transaction, rowLists.cvms(domain), { number: listed_as, version, ...change });
}

/** Returns the condition that a CVM has not changed since it was read. */
function unchanged({ listed_as, version }: StoredCvm) {
  return {
    ConditionExpression: 'listed_as = :listed_as AND version = :version',
    ExpressionAttributeValues: { ':listed_as': listed_as, ':version': version },
  };
}
