import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { releaseKeys } from '../table/keys.ts';
import { deflated, inflated, parseStored, storedBytes } from '../table/stored.ts';
import { type Table, getItem, queryPrefix } from '../table/table.ts';
import { isDone, transact } from '../table/transaction.ts';
import { storedAttestation } from './attestation.ts';

const keySession = v.object({
  /** The identifier of the session. It follows from the nonce of the evidence, so a nonce is used once. */
  session: v.string(),
  attestation: storedAttestation,
  /** The public key of the TEE, a JSON Web Key, as it was sent. */
  tee_key: v.record(v.string(), v.unknown()),
  /** The SHA-256, in hex, of the body of the request that brought the evidence. */
  evidence_hash: v.string(),
  attested_at: v.string(),
});
/** The session of a guest whose evidence holds. It lasts for 5 minutes. */
export type KeySession = v.InferOutput<typeof keySession>;

/** The time for which a session lasts after its evidence was verified. */
const sessionSeconds = 300;

/** The time after which a session is removed: longer than its nonce can be sent again. */
const lifetimeInSeconds = 3_600;
const bytesPerPart = 350_000;

/**
 * Stores a session, and the evidence if a party may have to see it.
 * @param evidence the body of the request that brought the evidence
 * @returns false if the nonce of the evidence was used before
 */
export async function keepSession(
  table: Table,
  domain: string,
  session: KeySession,
  evidence: string | undefined,
): Promise<boolean> {
  const ttl = Math.ceil(Date.parse(session.attested_at) / 1_000) + lifetimeInSeconds;
  const Item = { ...releaseKeys.session(domain, session.session), ...session, ttl };
  const bytes = evidence === undefined ? new Uint8Array() : deflated(evidence);
  const parts = Array.from({ length: Math.ceil(bytes.length / bytesPerPart) }, (_, part) => ({
    ...releaseKeys.evidence(domain, session.session, part),
    content: bytes.subarray(part * bytesPerPart, (part + 1) * bytesPerPart),
    ttl,
  }));
  const put = { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } };
  return await isDone(transact(table, [put, ...parts.map((part) => ({ put: { Item: part } }))]));
}

/** Reads a session. Undefined if there is none, or it has expired. */
export async function readSession(table: Table, domain: string, session: string, now: string): Promise<KeySession | undefined> {
  const item = await getItem(table, releaseKeys.session(domain, session));
  const kept = item && parseStored(keySession, item, 'session of a guest');
  return kept && Date.parse(now) - Date.parse(kept.attested_at) < sessionSeconds * 1_000 ? kept : undefined;
}

/** Reads the body of the request that brought the evidence of a session. Undefined if it has expired, or was not kept. */
export async function readEvidenceOf(table: Table, domain: string, session: string): Promise<string | undefined> {
  const parts = await queryPrefix(table, releaseKeys.partition(domain), releaseKeys.prefixes.evidence(session));
  if (parts.length === 0) return undefined;
  return inflated(Buffer.concat(parts.map(({ content }) => v.parse(storedBytes, content))));
}

/** Returns the SHA-256, in hex, of the body of a request. */
export const hashOfBody = (body: string) => createHash('sha256').update(body).digest('hex');
