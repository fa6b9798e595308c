import type { Schemas } from '../generated/api-types.ts';
import type { Client } from './create-client.ts';
import { findRows } from './pages.ts';

/**
 * The owners of the keys in a computation's manifest, as the service names them. No digest covers who owns a key, so each
 * fingerprint must be compared with its owner.
 */
export interface KeyOwners {
  /** The assets that the computation links, as rows of the list of assets. An asset that was just deleted is missing. */
  assets: Schemas['AssetRow'][];
  /** Returns the names of the users whose latest uploaded key has a fingerprint. */
  usersWith: (fingerprint: string) => string[];
}

const latestEvents = 100;

export async function readKeyOwners(
  client: Client,
  { id, owner, consumers = [], assets = [] }: Schemas['ComputationView'],
  signal?: AbortSignal,
): Promise<KeyOwners> {
  const ids = assets.map((asset) => asset.id);
  const keysOf = async (limit: number, originator?: string) =>
    (await client.listEvents({ id, event_type: 'key_uploaded', limit, originator, signal })).events;
  const [rows, events] = await Promise.all([findRows(client, 'listAssets', ids, { signal }), keysOf(latestEvents)]);
  const parties = new Set([owner, ...consumers, ...[...rows.values()].map(({ created_by }) => created_by)]);
  for (const { originator } of events) parties.delete(originator);
  const older = events.length < latestEvents ? [] : await Promise.all([...parties].map((party) => keysOf(1, party)));
  const latest = new Map<string, unknown>();
  for (const { originator, details } of [...events, ...older.flat()]) {
    if (!latest.has(originator)) latest.set(originator, (JSON.parse(atob(details)) as { fingerprint?: unknown }).fingerprint);
  }
  return {
    assets: [...rows.values()],
    usersWith: (fingerprint) => [...latest].filter(([, given]) => given === fingerprint).map(([user]) => user),
  };
}
