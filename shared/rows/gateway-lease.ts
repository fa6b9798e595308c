import * as v from 'valibot';
import { gatewayKeys, type Key } from '../table/keys.ts';
import { type Table, getItem, getItems, type Item } from '../table/table.ts';
import { hasAttributes, putItem, putItemIf, setAttributes, updateExisting, updateIf } from '../table/writes.ts';
import type { StoredPresence } from './cvm.ts';
import { parseStored } from '../table/stored.ts';

/**
 * Schema of the lease that a gateway renews. All CVMs that are connected to the gateway count as last seen when it was renewed,
 * so they need no write each.
 */
const lease = v.object({ renewed_at: v.string(), is_over: v.optional(v.boolean()) });

type Lease = v.InferOutput<typeof lease>;

/** The time after which the lease of a gateway ends if it is not renewed. Gateways renew it three times as often. */
export const leaseInMilliseconds = 30_000;

/**
 * The time for which a lease is stored after its last renewal: 90 days. During this time, the CVMs of a gateway that is gone show
 * when they were last seen.
 */
const lifetimeInSeconds = 90 * 24 * 60 * 60;

/** Renews the lease by which a gateway counts as alive, or ends it. */
export async function renewLease(table: Table, gateway: string, now: string, { isOver = false } = {}): Promise<void> {
  await putItem(table, { ...gatewayKeys.lease(gateway), renewed_at: now, is_over: isOver, ttl: endOf(now) });
}

function endOf(now: string): number {
  return Math.floor(Date.parse(now) / 1000) + lifetimeInSeconds;
}

const named = v.object({ gateway: v.string() });

/**
 * Gives a gateway its name, which is its host and port. Ends the lease of the gateway that had the name before, because that one is
 * gone.
 */
export async function takeName(table: Table, gateway: string, name: string, now: string): Promise<void> {
  const key = gatewayKeys.name(name);
  const item = await getItem(table, key);
  const before = item && parseStored(named, item, 'name of a gateway').gateway;
  if (before !== undefined && before !== gateway) {
    await updateExisting(table, gatewayKeys.lease(before), setAttributes({ is_over: true }));
  }
  await putItem(table, { ...key, gateway, ttl: endOf(now) });
}

/**
 * Records that a gateway of a deployment is alive. It counts as alive for the time of a lease. Of several deployments, the one
 * whose gateway started last is the newest: after a rollback that is the one with the lower revision.
 * @param deployment the revision of the gateway's task definition, which other deployments do not have
 * @param startedAt RFC 3339, UTC, milliseconds
 * @returns false while a gateway is alive that a newer deployment started
 */
export async function isOfNewestDeployment(
  table: Table,
  { deployment, startedAt }: { deployment: number; startedAt: string },
  now: string,
): Promise<boolean> {
  const renewed = { renewed_at: now, ttl: endOf(now) };
  const item = { ...gatewayKeys.newest, deployment, started_at: startedAt, ...renewed };
  const isLast = await putItemIf(table, item, {
    ConditionExpression: 'attribute_not_exists(pk) OR started_at <= :started_at OR renewed_at < :ended',
    ExpressionAttributeValues: {
      ':started_at': startedAt,
      ':ended': new Date(Date.parse(now) - leaseInMilliseconds).toISOString(),
    },
  });
  if (isLast) return true;
  return await updateIf(table, gatewayKeys.newest, setAttributes(renewed), hasAttributes({ deployment }));
}

/**
 * Returns whether a gateway may still have streams of CVMs: the lease that it renews has not ended.
 * @param get reads the lease of the gateway. Default: reads it alone
 */
export async function isAlive(
  table: Table,
  gateway: string,
  now: string,
  get = (key: Key) => getItem(table, key),
): Promise<boolean> {
  return isCurrent(parseLease(await get(gatewayKeys.lease(gateway))), now);
}

/**
 * Returns the presences with the time at which each CVM was last seen: a CVM on a gateway was seen when the gateway renewed its
 * lease. Leaves out `held_by` of a gateway that is gone. Costs a read unit for each gateway.
 */
export async function withGatewayLeases(table: Table, presences: StoredPresence[], now: string): Promise<StoredPresence[]> {
  const gateways = [...new Set(presences.flatMap(({ held_by }) => held_by ?? []))];
  if (gateways.length === 0) return presences;
  const items = await getItems(table, gateways.map(gatewayKeys.lease));
  const leases = new Map(gateways.map((gateway, index) => [gateway, parseLease(items[index])]));
  return presences.map(({ held_by, ...presence }) => {
    const found = leases.get(held_by ?? '');
    const renewedAt = found?.renewed_at ?? '';
    const seen = renewedAt > (presence.last_seen_at ?? '') ? { ...presence, last_seen_at: renewedAt } : presence;
    return isCurrent(found, now) ? { ...seen, held_by } : seen;
  });
}

function isCurrent(found: Lease | undefined, now: string): boolean {
  return found !== undefined && !found.is_over && Date.parse(now) - Date.parse(found.renewed_at) <= leaseInMilliseconds;
}

function parseLease(item: Item | undefined) {
  return item && parseStored(lease, item, 'lease of a gateway');
}
