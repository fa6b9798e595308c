import { type Client, findRows, page, type Schemas, wholeAnswer } from 'computation-management-client';
import { loadComputation } from './load-computation.ts';
import { type Debts, partiesOf } from './parties.ts';

/** A linked asset. Its fields from the list of assets may be missing, such as right after the asset was deleted. */
export type Input = Schemas['AssetOfComputation'] & Partial<Schemas['AssetRow']>;

export interface Overview extends Debts {
  computation: Schemas['Computation'];
  etag: string | undefined;
  inputs: Input[];
  missing: Schemas['MissingItems'];
  isReady: boolean;
  /** The digest of the current manifest. Undefined while there is none. */
  digest: string | undefined;
  approvals: Schemas['Approvals'];
  hasMyKey: boolean;
}

/**
 * Reads a computation with what a run of it still needs. Looks linked assets up in the list of assets: reading them one by one would
 * count as reading their content.
 */
export async function loadOverview(client: Client, id: string, signal: AbortSignal): Promise<Overview> {
  const [{ computation, etag }, check, approvals, { uploaded }] = await Promise.all([
    loadComputation(client, id, signal),
    client.call('dryRun', { id, signal }),
    client.listApprovals({ id, signal }),
    client.checkKey({ id, signal }),
  ]);
  const { data: dryRun, digest } = wholeAnswer(check);
  const ids = computation.assets.map((asset) => asset.id);
  const rows = await findRows(ids, (range) => page(client, 'listAssets', { ...range, signal }));
  const inputs = computation.assets.map((asset) => ({ ...rows.get(asset.id), ...asset }));
  const missing = dryRun.missing_items;
  return {
    computation,
    etag,
    inputs,
    missing,
    isReady: missing.keys.length + missing.hashes.length + missing.info.length === 0,
    digest,
    approvals,
    hasMyKey: uploaded,
    ...partiesOf({ computation, inputs, missing, approvals }),
  };
}
