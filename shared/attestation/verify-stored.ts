import { verifyToken } from 'computation-management-attestation';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import * as v from 'valibot';
import type { TokenOfProcess } from '../rows/agent-tokens.ts';
import { storedAttestation } from '../rows/attestation.ts';
import { type ContentStore, getContent } from '../rows/content-store.ts';
import { sharedClient } from '../runtime/clients.ts';
import { truncate } from '../runtime/errors.ts';
import type { Table } from '../table/table.ts';
import { hashOfCollateral, readCollateral } from './collateral.ts';

/**
 * Returns the function that verifies attestation tokens, up to the root certificates of AMD and Intel. A service on one machine
 * replaces it (`replaceClient`) by one that trusts others.
 */
export const tokenVerifier = () => verifyToken;

/** The documents that verify the attestation tokens of a CVM: its certificate, and those of the makers of the hardware. */
type Documents = { certificate: string | null } & Awaited<ReturnType<typeof readCollateral>>;

/**
 * Reads the documents that verify the attestation tokens of a CVM. One round trip.
 * @param certificate the certificate of the CVM in PEM, as it was registered. Null: it has none, so no token is verified
 */
export async function documentsFor(table: Table, certificate: string | null): Promise<Documents> {
  return { certificate, ...(await readCollateral(table)) };
}

const longestDetail = 400;

/** The result of the verification of an attestation token. */
export type Verified = Pick<TokenOfProcess, 'attestation' | 'bound_to' | 'collateral_hash'>;

/**
 * Verifies a stored attestation token as of now. One round trip to storage.
 * @param key the key in storage of the object with the token
 * @returns undefined if storage has no such object
 */
export async function verifyStored(
  store: ContentStore,
  key: string,
  { certificate, ...documents }: Documents,
  now: string,
): Promise<Verified | undefined> {
  const content = await getContent(store, key);
  if (!content) return undefined;
  let collateral_hash: string | null = null;
  const verdict = await sharedClient(tokenVerifier)(await buffer(content as AsyncIterable<Uint8Array>), {
    ...documents,
    boundTo: certificate === null ? null : { certificate },
    now: new Date(now),
    onCollateral: (chosen) => (collateral_hash = hashOfCollateral(chosen)),
  });
  const checks = verdict.checks.map((check) => ({ ...check, detail: truncate(check.detail, longestDetail) }));
  const attestation = v.parse(storedAttestation, { ...verdict, checks, verified_at: now });
  const bound_to = certificate === null ? null : createHash('sha512').update(certificate).digest('hex');
  return { attestation, bound_to, collateral_hash };
}
