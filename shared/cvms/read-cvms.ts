import {
  type StoredCvm,
  type CvmReference,
  storedCvm,
  type Cvm,
  type StoredPresence,
  parsePresence,
  presenceOf,
  attestationOf,
} from '../rows/cvm.ts';
import { type Claim, parseClaim } from '../rows/claim.ts';
import { type Key, type RowKey, cvmKeys, listKeys, lists } from '../table/keys.ts';
import { type Item, type Table, getItems } from '../table/table.ts';
import { parseStored } from '../table/stored.ts';
import { withGatewayLeases } from '../rows/gateway-lease.ts';
import { orNotFound } from '../runtime/errors.ts';
import { readPage } from '../table/read-page.ts';
import { rowLists } from '../table/row-lists.ts';
import { etagOf } from '../http/etags.ts';
interface ReadCvm {
  item: Item | undefined;
  /** The registration of the CVM. Undefined if the CVM is not registered. */
  cvm: StoredCvm | undefined;
  presence: StoredPresence;
  claim: Claim | undefined;
}

/** Returns the keys of the two items that describe a CVM: its registration, and its claim, which says which run holds it. */
export function keysOfCvm({ domain, cvmId }: CvmReference): [Key, RowKey] {
  return [cvmKeys.cvm(domain, cvmId), cvmKeys.claim(domain, cvmId)];
}

/**
 * Reads a CVM from its stored items. The presence of the CVM does not consider whether the gateway that holds its stream is still
 * alive.
 */
function parseCvm([item, claimItem]: (Item | undefined)[]): ReadCvm {
  return {
    item,
    cvm: item && parseStored(storedCvm, item, 'registered CVM'),
    presence: item ? parsePresence(item) : {},
    claim: parseClaim(claimItem),
  };
}

/** Returns a CVM in the form that the API shows, with its presence (connected or not) at the given time. */
export function describeCvm(
  { attestation, ...cvm }: StoredCvm,
  { item, presence, claim }: Pick<ReadCvm, 'item' | 'presence' | 'claim'>,
  now: string,
): Cvm {
  const { connection } = attestationOf(item, presence.held_by !== undefined);
  return {
    ...cvm,
    attestation: attestation && { ...attestation, connection },
    presence: presenceOf(presence, { isHeld: claim !== undefined, now }),
  };
}

/**
 * Reads a CVM, its signs of life and the run that holds it, also if the CVM is not registered. One round trip, or two if a
 * gateway holds it.
 */
export async function readCvmAndClaim(table: Table, reference: CvmReference, now: string): Promise<ReadCvm> {
  const read = parseCvm(await getItems(table, keysOfCvm(reference)));
  const [presence = {}] = await withGatewayLeases(table, [read.presence], now);
  return { ...read, presence };
}

/**
 * Reads a registered CVM in the form that the API shows. One round trip, or two if a gateway holds it.
 * @throws ServiceError `not_found`
 */
export async function readCvm(table: Table, reference: CvmReference, now: string): Promise<Cvm> {
  const { cvm, ...rest } = await readCvmAndClaim(table, reference, now);
  return describeCvm(orNotFound(cvm, 'registered CVM'), rest, now);
}

/**
 * Lists the registered CVMs of a domain, newest first, with the exact total. Takes a round trip more than readPage, or two if a
 * gateway holds one of the CVMs, and two read units for each CVM.
 */
export async function listCvms(
  table: Table,
  domain: string,
  { limit, offset, now }: { limit: number; offset: number; now: string },
): Promise<{ cvms: Cvm[]; total: number }> {
  const { rows, total } = await readPage(table, rowLists.cvms(domain), { limit, offset });
  const references = rows.map((row) => ({ domain, cvmId: String(row['id']) }));
  const items = await getItems(table, references.flatMap(keysOfCvm));
  const read = references.map(() => parseCvm(items.splice(0, 2)));
  const presences = await withGatewayLeases(
    table,
    read.map(({ presence }) => presence),
    now,
  );
  const cvms = read.flatMap(({ item, cvm, claim }, index): Cvm[] => {
    const isSame = cvm && listKeys.row(lists.cvms(domain), cvm.listed_as).sk === rows[index]?.['sk'];
    if (!isSame) return []; // removed since it was listed, and perhaps registered again
    return [describeCvm(cvm, { item, claim, presence: presences[index] ?? {} }, now)];
  });
  return { cvms, total };
}

/**
 * Returns the ETag of a CVM. Presence and attestation are a part of their own, which If-Match does not compare, because they
 * change by themselves.
 */
export function cvmEtag({ presence, attestation, ...cvm }: Cvm): string {
  const { id, description, certificate, agent_url, created_at, updated_at } = cvm;
  const { state, last_seen_at, agent_state, fit } = presence;
  const token = attestation && [attestation.token_hash, attestation.verified_at, attestation.connection];
  return etagOf(
    [id, description, certificate, agent_url, created_at, updated_at],
    [state, last_seen_at, agent_state, fit, token],
  );
}
