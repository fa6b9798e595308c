import { createHash } from 'node:crypto';
import type { TdxCollateral, VerifyOptions } from 'computation-management-attestation';
import * as v from 'valibot';
import { collateralKeys } from '../table/keys.ts';
import { parseStored, queryPartition, storedBytes, type Table } from '../table/table.ts';
import { putItem } from '../table/writes.ts';

const stored = v.object({ kind: v.picklist(['certificate', 'collateral']), content: storedBytes });
export type CollateralKind = v.InferOutput<typeof stored>['kind'];

/** That operators have added. */
export async function readCollateral(table: Table): Promise<Pick<VerifyOptions, 'certificates' | 'collateral'>> {
  const items = (await queryPartition(table, collateralKeys.partition)).map((item) => parseStored(stored, item, 'collateral'));
  const contents = (kind: CollateralKind) => items.filter((item) => item.kind === kind).map(({ content }) => content);
  return {
    certificates: contents('certificate'),
    collateral: contents('collateral').map((content) => JSON.parse(Buffer.from(content).toString()) as TdxCollateral),
  };
}

/** Safe to repeat: the same content is kept once. */
export async function addCollateral(
  table: Table,
  { kind, content }: { kind: CollateralKind; content: Uint8Array },
): Promise<void> {
  const hash = createHash('sha256').update(content).digest('hex');
  await putItem(table, { ...collateralKeys.item(hash), kind, content });
}
