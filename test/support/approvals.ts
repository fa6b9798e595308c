import { generateKeyPairSync } from 'node:crypto';
import { approve } from '../../shared/approvals/approve.ts';
import type { ApprovalInput } from '../../shared/approvals/approval.ts';
import type { AssetUse } from '../../shared/assets/asset.ts';
import { createAsset } from '../../shared/assets/create-asset.ts';
import { uploadKey } from '../../shared/keys/upload-key.ts';
import { linkAsset } from '../../shared/links/link-asset.ts';
import { readManifest } from '../../shared/manifest/read-manifest.ts';
import { aReadyComputation, byAlice, type Stores } from './builders-store.ts';

const { publicKey: keyOfBob } = generateKeyPairSync('ed25519');

/** A computation of alice with an algorithm of alice and a dataset of bob. Both have uploaded their keys. */
export interface SharedComputation {
  id: string;
  algorithm: string;
  dataset: string;
}

export async function aDatasetOfBob(
  { table, content }: Stores,
  domain: string,
  file_name: string,
  use: AssetUse = 'approval',
): Promise<string> {
  const given = { file_name, use, asset_type: 'dataset' as const, asset: btoa(file_name) };
  const fields = { description: '', mime_type: '', user_key: '', content_access: 'creator' as const };
  return (await createAsset(table, content, { domain, ...fields, ...given, createdBy: 'bob', now: byAlice.now })).id;
}

export async function aSharedComputation(stores: Stores, domain: string, use: AssetUse = 'approval'): Promise<SharedComputation> {
  const { id, algorithm } = await aReadyComputation(stores, domain);
  const dataset = await aDatasetOfBob(stores, domain, 'iris.csv', use);
  await linkAsset(stores.table, { domain, assetId: dataset, computationId: id, ...byAlice });
  const user_key = keyOfBob.export({ format: 'der', type: 'spki' }).toString('base64');
  const key = { user_id: 'bob', user_key, fingerprint: '', is_consumer: false, uploaded_at: byAlice.now };
  await uploadKey(stores.table, domain, id, key);
  return { id, algorithm, dataset };
}

export async function digestOf({ table }: Pick<Stores, 'table'>, domain: string, id: string): Promise<string> {
  return (await readManifest(table, domain, id, undefined)).digest;
}

/** Approves the manifest of a computation as it is now. */
export async function anApproval(
  stores: Pick<Stores, 'table'>,
  domain: string,
  computationId: string,
  by = 'bob',
  given: Partial<ApprovalInput> = {},
): Promise<string> {
  const digest = await digestOf(stores, domain, computationId);
  const { now, permit } = byAlice;
  await approve(stores.table, { domain, computationId, given: { digest, ...given }, by, now, permit });
  return digest;
}
