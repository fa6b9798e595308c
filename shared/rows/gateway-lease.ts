import * as v from 'valibot';
import { gatewayKeys, type Key } from '../table/keys.ts';
import { type Table, getItem, getItems, type Item } from '../table/table.ts';
import { setAttributes, putItem, updateExisting } from '../table/writes.ts';
import type { StoredPresence } from './presence.ts';
import { parseStored } from '../table/stored.ts';

/** Its CVMs were last seen when it was renewed, so they need no write each. */
const lease = v.object({
  renewed_at: v.string(),
  is_over: v.optional(v.boolean()),
});

/** It renews three times as often. */
export const leaseInMilliseconds = 30_000;

/** Until then, the CVMs of a gateway that is gone show when they were last seen. */
const lifetimeInSeconds = 90 * 24 * 60 * 60;

export async function renewLease(table: Table, gateway: string, now: string, { isOver = false } = {}): Promise<void> {
  await putItem(table, {
    ...gatewayKeys.lease(gateway),
    renewed_at: now,
    is_over: isOver,
    ttl: endOf(now),
  });
}

function endOf(now: string): number {
  return Math.floor(Date.parse(now) / 1000) + lifetimeInSeconds;
}

const named = v.object({ gateway: v.string() });

/** The gateway that had the name before is gone, so its lease ends. */
export async function takeName(table: Table, gateway: string, name: string, now: string): Promise<void> {
  const key = gatewayKeys.name(name);
  const item = await getItem(table, key);
  const before = item && parseStored(named, item, 'name of a gateway').gateway;
  if (before !== undefined && before !== gateway) {
    await updateExisting(table, gatewayKeys.lease(before), setAttributes({ is_over: true }));
  }
  await putItem(table, { ...key, gateway, ttl: endOf(now) });
}

/** Whether it may still have its streams. @param get reads its lease. Default: alone */
export async function isAlive(
  table: Table,
  gateway: string,
  now: string,
  get = (key: Key) => getItem(table, key),
): Promise<boolean> {
  const found = parseLease(await get(gatewayKeys.lease(gateway)));
  return found !== undefined && !found.is_over && Date.parse(now) - Date.parse(found.renewed_at) <= leaseInMilliseconds;
}

/** Seen last when their gateway renewed its lease. A read unit a gateway. */
export async function withGatewayLeases(table: Table, presences: StoredPresence[]): Promise<StoredPresence[]> {
  const gateways = [...new Set(presences.flatMap(({ held_by }) => held_by ?? []))];
  if (gateways.length === 0) return presences;
  const items = await getItems(table, gateways.map(gatewayKeys.lease));
  const renewals = new Map(gateways.map((gateway, index) => [gateway, parseLease(items[index])?.renewed_at ?? '']));
  return presences.map((presence) => {
    const renewedAt = renewals.get(presence.held_by ?? '') ?? '';
    return renewedAt > (presence.last_seen_at ?? '') ? { ...presence, last_seen_at: renewedAt } : presence;
  });
}

function parseLease(item: Item | undefined) {
  return item && parseStored(lease, item, 'lease of a gateway');
}
