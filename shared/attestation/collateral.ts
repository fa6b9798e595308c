import { createHash } from 'node:crypto';
import type { TdxCollateral, VerifyOptions } from 'computation-management-attestation';
import { parseCertificates, validityOf } from 'computation-management-attestation/documents';
import { emitMetric } from '../runtime/log.ts';
import * as v from 'valibot';
import { collateralKeys } from '../table/keys.ts';
import { type Table, getItem, queryPartition } from '../table/table.ts';
import { putItem } from '../table/writes.ts';
import { parseStored, storedBytes } from '../table/stored.ts';

const stored = v.object({
  kind: v.picklist(['certificate', 'collateral']),
  content: storedBytes,
  /** True if an operator removed the document: nothing is verified with it, and evidence that was still has it. */
  removed: v.optional(v.boolean(), false),
});
export type CollateralKind = v.InferOutput<typeof stored>['kind'];

type Documents = Record<keyof TdxCollateral, string>;
const parseCollateral = (content: Uint8Array) => JSON.parse(Buffer.from(content).toString()) as Documents;

/** Reads the certificates and the collateral of Intel that operators have added for the verification of attestations. */
export async function readCollateral(table: Table): Promise<Pick<VerifyOptions, 'certificates' | 'collateral'>> {
  const items = await listCollateral(table);
  const contents = (kind: CollateralKind) => items.filter((item) => item.kind === kind).map(({ content }) => content);
  return { certificates: contents('certificate'), collateral: contents('collateral').map(parseCollateral) };
}

/** Lists the certificates and collaterals that operators have added and not removed, with the SHA-256 of each in hex. */
export async function listCollateral(table: Table) {
  const items = (await queryPartition(table, collateralKeys.partition)).map((item) => parseStored(stored, item, 'collateral'));
  return items.filter(({ removed }) => !removed).map(({ kind, content }) => ({ hash: hashOf(content), kind, content }));
}

const day = 24 * 3_600_000;

/**
 * Writes the metric of the days until the first of the documents runs out with which attestations are verified. Of several collaterals for the same
 * machines, the last one counts. Documents that cannot be read do not: nothing is verified with them. Writes nothing if there is no document.
 * @param now in milliseconds since 1970
 */
export async function emitCollateralDays(table: Table, now: number): Promise<void> {
  const ends = new Map<string, number>();
  for (const document of await listCollateral(table)) {
    const { name, end } = endOf(document);
    if (end > 0) ends.set(name, Math.max(ends.get(name) ?? 0, end));
  }
  if (ends.size > 0) emitMetric('CollateralDays', Math.floor((Math.min(...ends.values()) - now) / day));
}

/** Returns what a document is for, and when it runs out, in milliseconds since 1970: 0 if it cannot be read. */
function endOf({ hash, kind, content }: Awaited<ReturnType<typeof listCollateral>>[number]): { name: string; end: number } {
  try {
    if (kind === 'certificate')
      return { name: hash, end: Math.min(...parseCertificates(content).map(({ notAfter }) => Number(notAfter))) };
    const { fmspc, authority, expires } = validityOf(parseCollateral(content));
    return { name: `${fmspc} ${authority}`, end: Number(expires) };
  } catch {
    return { name: hash, end: 0 };
  }
}

const hashOf = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

/** Returns the SHA-256, in hex, of a collateral of Intel as `readCollateral` returned it. */
export const hashOfCollateral = (collateral: TdxCollateral) => hashOf(JSON.stringify(collateral));

/**
 * Reads the collateral of Intel, used to verify attestations, that has the given SHA-256. Null if no hash is given or nothing is
 * found. Collateral that was removed is still found.
 */
export async function readOneCollateral(table: Table, hash: string | null): Promise<Documents | null> {
  const item = hash === null ? undefined : await getItem(table, collateralKeys.item(hash));
  return item ? parseCollateral(parseStored(stored, item, 'collateral').content) : null;
}

/**
 * Adds a certificate or a collateral of Intel that attestations are verified with. Safe to repeat: the same content is kept once.
 */
export async function addCollateral(
  table: Table,
  { kind, content }: { kind: CollateralKind; content: Uint8Array },
): Promise<void> {
  await putItem(table, { ...collateralKeys.item(hashOf(content)), kind, content });
}

/** Removes a certificate or a collateral from those that attestations are verified with. @param hash the SHA-256 in hex, as listed */
export async function removeCollateral(
  table: Table,
  { hash, kind, content }: { hash: string; kind: CollateralKind; content: Uint8Array },
): Promise<void> {
  await putItem(table, { ...collateralKeys.item(hash), kind, content, removed: true });
}
