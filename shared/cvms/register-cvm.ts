import { createHash, X509Certificate } from 'node:crypto';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { canonicalSpki, InvalidKeyError } from 'computation-management-formats/public-key';
import { laterOf } from 'computation-management-formats/timestamps';
import { refusedAt } from '../rows/public-key.ts';
import { preconditionFailed, conflict, notFound } from '../runtime/errors.ts';
import { hasAttributes, isAbsent, nextNumber, setAttributesIf } from '../table/writes.ts';
import { recordMember, rowLists } from '../table/row-lists.ts';
import { assertUnclaimed, type Claim } from '../rows/claim.ts';
import { type AnsweredRequest, type Committed, type Transaction, StaleReadError, makeChange } from '../table/transaction.ts';
import { lists, cvmKeys, listKeys } from '../table/keys.ts';
import { getItem, type Table } from '../table/table.ts';
import type { Cvm, CvmReference, StoredCvm } from '../rows/cvm.ts';
import type { CvmInput } from './cvm-input.ts';
import { schemaAttribute } from '../table/stored.ts';
import { describeCvm, readCvmAndClaim } from './read-cvms.ts';

interface RegisterRequest extends AnsweredRequest, CvmReference {
  given: CvmInput;
  by: string;
  now: string;
  matchesIfMatch?: ((cvm: Cvm) => boolean) | undefined;
}

/**
 * Registers a CVM, or replaces its description and, if given, its certificate. Writes nothing if nothing changes. Two round
 * trips, or three for a new CVM.
 * @throws ServiceError `invalid_request`; `conflict` if the certificate would change while a run holds the CVM, or if another CVM
 *   of the domain has the same public key; `precondition_failed`, also if If-Match was sent and the CVM is not registered
 */
export async function registerCvm(table: Table, request: RegisterRequest): Promise<Committed<{ cvm: Cvm; isNew: boolean }>> {
  const { domain, cvmId, given, by, now, matchesIfMatch, answerKeeper } = request;
  const change = changeOf(given);
  let number: number | undefined;
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const { cvm, ...rest } = await readCvmAndClaim(table, { domain, cvmId }, now);
    const isOfCertificate = change.certificate !== undefined && change.certificate !== (cvm?.certificate ?? null);
    if (isOfCertificate) refuseIfHeld(cvmId, rest.claim);
    if (matchesIfMatch && !(cvm && matchesIfMatch(describeCvm(cvm, rest, now)))) {
      if (isOfCertificate) await refuseIfTaken(table, request, change.public_key_hash); // a conflict comes before a failed condition
      throw preconditionFailed();
    }
    if (isOfCertificate) {
      assertUnclaimed(transaction, { domain, cvm_id: cvmId });
      exchangeKey(transaction, { domain, cvmId }, { before: cvm?.public_key_hash, after: change.public_key_hash });
      change.certified = { by, at: now };
    }
    if (cvm) {
      const next = replaced(transaction, domain, cvm, change, now);
      return { cvm: describeCvm(next, rest, now), isNew: false };
    }
    number ??= await nextNumber(table, lists.cvms(domain));
    const added: StoredCvm = {
      id: cvmId,
      ...withoutCertificate,
      agent_url: null,
      attestation: null,
      ...change,
      created_at: now,
      updated_at: now,
      listed_as: number,
      version: 1,
    };
    addCvm(transaction, domain, added);
    return { cvm: describeCvm(added, rest, now), isNew: true };
  });
}

/** @throws ServiceError `conflict` if a run holds the CVM */
function refuseIfHeld(cvmId: string, claim: Claim | undefined): void {
  if (claim) throw conflict('cvm_busy', `A run holds the CVM ${cvmId}. Wait until it ends, or stop it.`, claim.run_id);
}

const withoutCertificate = { certificate: null, certificate_fingerprint: null, certificate_sha512: null, public_key_hash: null };

type Change = Pick<StoredCvm, 'description'> &
  Partial<Pick<StoredCvm, keyof typeof withoutCertificate | 'agent_url' | 'certified'>>;

/**
 * Returns the properties of a CVM that a request to register it changes, without properties that the request omits.
 * @throws ServiceError `invalid_request` if the certificate is invalid
 */
function changeOf({ description, certificate, agent_url }: CvmInput): Change {
  const ofCertificate = (certificate: string) => ({
    certificate,
    certificate_fingerprint: refusedAt('/certificate', () => fingerprintOfCertificate(certificate)),
    certificate_sha512: createHash('sha512').update(certificate).digest('hex'),
    public_key_hash: refusedAt('/certificate', () => hashOfPublicKey(certificate)),
  });
  return {
    description,
    ...(certificate === undefined ? {} : certificate ? ofCertificate(certificate) : withoutCertificate),
    ...(agent_url === undefined ? {} : { agent_url }),
  };
}

/** Returns the hash of the public key in a certificate, the same for each encoding of the key. @throws InvalidKeyError for other kinds of keys */
function hashOfPublicKey(certificate: string): string {
  const { publicKey } = new X509Certificate(certificate);
  const spki = canonicalSpki(publicKey.export({ type: 'spki', format: 'der' }));
  if (!spki) throw new InvalidKeyError('Expected a certificate of a key of RSA, ECDSA (P-256, P-384, P-521) or Ed25519.');
  return createHash('sha256').update(spki).digest('hex');
}

const keyTaken = () =>
  conflict(
    'public_key_taken',
    'Another CVM of this domain has a certificate with the same public key. Make a key of its own for each CVM.',
  );

/** @throws ServiceError `conflict` if another CVM of the domain has the public key */
async function refuseIfTaken(table: Table, { domain, cvmId }: CvmReference, hash: string | null | undefined): Promise<void> {
  const holder = hash ? await getItem(table, cvmKeys.publicKey(domain, hash)) : undefined;
  if (holder && holder['id'] !== cvmId) throw keyTaken();
}

/**
 * Adds to the transaction that a CVM of the domain has another public key in its certificate, or none. The transaction then fails
 * with a ServiceError `conflict` if another CVM of the domain has that key.
 */
function exchangeKey(
  transaction: Transaction,
  { domain, cvmId: id }: { domain: string; cvmId: string },
  { before, after }: { before?: string | null | undefined; after?: string | null | undefined },
): void {
  if ((before ?? null) === (after ?? null)) return; // a new certificate for the same key
  if (before) transaction.add({ delete: { Key: cvmKeys.publicKey(domain, before) } });
  if (!after) return;
  transaction.add({
    put: {
      Item: { ...cvmKeys.publicKey(domain, after), id },
      ConditionExpression: 'attribute_not_exists(pk) OR id = :id', // the same CVM's: of an equal request at the same time
      ExpressionAttributeValues: { ':id': id },
    },
    otherwise: keyTaken(),
  });
}

/**
 * Adds to the transaction the change of a registered CVM, if anything changes. A new certificate removes the attestation, which
 * is bound to one certificate.
 * @returns the CVM after the change
 */
function replaced(transaction: Transaction, domain: string, cvm: StoredCvm, change: Change, now: string): StoredCvm {
  const next = { ...cvm, ...change };
  const isOfCertificate = next.certificate !== cvm.certificate;
  if (next.description === cvm.description && next.agent_url === cvm.agent_url && !isOfCertificate) return cvm;
  return changeCvm(transaction, domain, cvm, {
    ...change,
    ...(isOfCertificate ? { attestation: null } : {}),
    updated_at: laterOf(cvm.updated_at, now),
  });
}

interface DeleteRequest extends AnsweredRequest, CvmReference {
  now: string;
  matchesIfMatch?: ((cvm: Cvm) => boolean) | undefined;
}

/**
 * Deletes a registered CVM with its signs of life. Two round trips.
 * @throws ServiceError `not_found`; `conflict` while a run holds it; `precondition_failed`
 */
export async function deleteCvm(table: Table, { domain, cvmId, now, matchesIfMatch, answerKeeper }: DeleteRequest) {
  return await makeChange(table, answerKeeper, async (table, transaction) => {
    const { cvm, ...rest } = await readCvmAndClaim(table, { domain, cvmId }, now);
    if (!cvm) throw notFound('registered CVM');
    refuseIfHeld(cvmId, rest.claim);
    if (matchesIfMatch && !matchesIfMatch(describeCvm(cvm, rest, now))) throw preconditionFailed();
    removeCvm(transaction, domain, cvm);
    assertUnclaimed(transaction, { domain, cvm_id: cvmId });
    return {};
  });
}

/**
 * Adds a new CVM and its place in the list of CVMs to the transaction, which throws StaleReadError if the CVM has been registered
 * since it was read.
 */
function addCvm(transaction: Transaction, domain: string, cvm: StoredCvm): void {
  const { id, listed_as } = cvm;
  const Item = { ...cvmKeys.cvm(domain, id), ...schemaAttribute, ...cvm };
  transaction.add({ put: { Item, ...isAbsent }, otherwise: StaleReadError });
  const row = { ...listKeys.row(lists.cvms(domain), listed_as), id };
  transaction.add({ put: { Item: row, ...isAbsent } });
  recordMember(transaction, rowLists.cvms(domain), { number: listed_as, version: cvm.version, now: 'all' });
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
  const update = { ...setAttributesIf(unchanged(cvm), changes), Key: cvmKeys.cvm(domain, cvm.id) };
  transaction.add({ update, otherwise: StaleReadError });
  return { ...cvm, ...changes };
}

/**
 * Adds the removal of a CVM and of its place in the list of CVMs to the transaction, which throws StaleReadError if the CVM has
 * changed since it was read.
 */
export function removeCvm(transaction: Transaction, domain: string, cvm: StoredCvm): void {
  transaction.add({ delete: { Key: cvmKeys.cvm(domain, cvm.id), ...unchanged(cvm) }, otherwise: StaleReadError });
  transaction.add({ delete: { Key: listKeys.row(lists.cvms(domain), cvm.listed_as) } });
  exchangeKey(transaction, { domain, cvmId: cvm.id }, { before: cvm.public_key_hash });
  recordMember(transaction, rowLists.cvms(domain), { number: cvm.listed_as, version: cvm.version + 1, before: 'all' });
}

/** Returns the condition that a CVM has not changed since it was read. */
const unchanged = ({ listed_as, version }: StoredCvm) => hasAttributes({ listed_as, version });
