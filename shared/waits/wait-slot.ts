import { createHash, randomInt, randomUUID } from 'node:crypto';
import { log } from '../runtime/log.ts';
import { waitKeys } from '../table/keys.ts';
import { queryBetween, type Table } from '../table/table.ts';
import { deleteItemIf, putItemIf } from '../table/writes.ts';
import type { Wait } from './wait.ts';

/** Frees a slot. Never throws: a slot that cannot be freed becomes free by itself soon after the wait. */
export type FreeSlot = () => Promise<void>;

/** After this time, the slot of a wait whose function died is free again. Longer than the last check of a wait may take. */
const graceInMilliseconds = 10_000;

const attempts = 3;

/**
 * Takes one of the slots for waits, which an endpoint has as many of as the stage may have waits. Each domain may use only
 * `perDomain` of them, which follow from its name. So neither cap is ever exceeded, although no count is kept: a slot is taken by
 * writing its item on the condition that nobody has it. Domains share slots, so one may find its slots taken by others before it
 * has reached its own cap.
 *
 * Costs a write unit, another one to free the slot, and some more with up to two read units if many slots are taken.
 * @returns undefined if no slot is free
 */
export async function takeWaitSlot(table: Table, wait: Wait): Promise<FreeSlot | undefined> {
  const holder = randomUUID();
  let candidates = slotsOf(wait);
  for (let attempt = 1; attempt <= attempts && candidates.length > 0; attempt++) {
    const slot = candidates[randomInt(candidates.length)] ?? 0;
    if (await take(table, wait, slot, holder)) return () => free(table, wait, slot, holder);
    if (attempt === 1) candidates = await freeSlots(table, wait);
    else candidates = candidates.filter((other) => other !== slot);
  }
  return undefined;
}

/** The domain's slots: consecutive ones, from one that a hash of its name selects. Wraps around at the last slot. */
function slotsOf({ domain, perStage, perDomain }: Wait): number[] {
  const first = createHash('sha256').update(domain).digest().readUInt32BE();
  return Array.from({ length: Math.min(perStage, perDomain) }, (_, index) => (first + index) % perStage);
}

function take(table: Table, { endpoint, clock, endsAt }: Wait, slot: number, holder: string): Promise<boolean> {
  const item = { ...waitKeys.slot(endpoint, slot), slot, holder, taken_until: endsAt + graceInMilliseconds };
  return putItemIf(table, item, {
    ConditionExpression: 'attribute_not_exists(pk) OR taken_until < :now',
    ExpressionAttributeValues: { ':now': clock.now() },
  });
}

async function freeSlots(table: Table, wait: Wait): Promise<number[]> {
  const own = slotsOf(wait);
  const wrapsAt = own.indexOf(0);
  const stretches = wrapsAt > 0 ? [own.slice(0, wrapsAt), own.slice(wrapsAt)] : [own];
  const items = await Promise.all(
    stretches.map((stretch) =>
      queryBetween(table, waitKeys.slot(wait.endpoint, stretch[0] ?? 0), waitKeys.slot(wait.endpoint, stretch.at(-1) ?? 0)),
    ),
  );
  const now = wait.clock.now();
  const taken = new Set(items.flat().flatMap(({ slot, taken_until }) => (Number(taken_until) < now ? [] : [slot])));
  return own.filter((slot) => !taken.has(slot));
}

async function free(table: Table, { endpoint }: Wait, slot: number, holder: string): Promise<void> {
  try {
    await deleteItemIf(table, waitKeys.slot(endpoint, slot), {
      ConditionExpression: 'holder = :holder',
      ExpressionAttributeValues: { ':holder': holder },
    });
  } catch (error) {
    log('WARN', 'The slot of a wait was not freed. It becomes free by itself.', {}, error);
  }
}
