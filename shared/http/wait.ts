import { environment } from '../runtime/environment.ts';
import { clockOf, longestWaitOf, type Invocation, steadyTimeOf, type Clock, untilAborted } from '../runtime/deadline.ts';
import { type Table, queryBetween } from '../table/table.ts';
import { createHash, randomInt, randomUUID } from 'node:crypto';
import { emitMetric, log } from '../runtime/log.ts';
import { waitKeys } from '../table/keys.ts';
import { deleteItemIf, hasAttributes, putItemIf } from '../table/writes.ts';

/**
 * A request that the service holds until there is something to return, with the end of the wait and the limits on such requests.
 */
export interface Wait {
  clock: Clock;
  /** The time when the wait of a held request ends, in milliseconds of `steadyTimeOf` its clock. */
  endsAt: number;
  /** A signal that is aborted when the service is about to stop. It ends the wait of a held request. */
  draining?: AbortSignal | undefined;
  endpoint: string;
  domain: string;
  /** The most requests of the endpoint that are held at the same time on the stage. */
  perStage: number;
  /** The most requests of the endpoint that are held at the same time in one domain. */
  perDomain: number;
}

/** A request with the parameter `wait`: the service may hold it for some seconds until there is something to return. */
export interface WaitingRequest extends Pick<Wait, 'endpoint' | 'domain'> {
  seconds: number;
  invocation: Invocation;
}

/**
 * Returns the wait of a request with the parameter `wait`. It lasts as long as the client asks, or less if the function's time
 * limit is closer.
 */
export function waitOf({ seconds, invocation, ...request }: WaitingRequest): Wait {
  const clock = clockOf(invocation);
  const { WAITS_PER_STAGE: perStage, WAITS_PER_DOMAIN: perDomain } = environment();
  const endsAt = steadyTimeOf(clock) + Math.min(seconds * 1_000, longestWaitOf(invocation));
  return { ...request, clock, endsAt, draining: invocation.draining, perStage, perDomain };
}

const secondInMilliseconds = 1_000;

/**
 * Calls `look` at once, and then once a second, until what it sees is enough, the client's or the function's time is up, or the
 * service is about to stop. Calls it only once if too many requests are held already.
 * @param look reads what the client waits for. Gets what it returned before. It should cost one read unit
 * @returns what was seen last
 */
export async function waitFor<Seen>(
  table: Table,
  wait: Wait,
  look: (before?: Seen) => Promise<Seen>,
  isEnough: (seen: Seen) => boolean,
): Promise<Seen> {
  let seen = await look();
  if (isEnough(seen) || isOver(wait)) return seen;
  const free = await takeWaitSlot(table, wait);
  if (!free) {
    emitMetric('WaitsRefused', 1);
    return seen;
  }
  try {
    while (!isEnough(seen) && !isOver(wait)) {
      await pause(wait);
      if (!wait.draining?.aborted) seen = await look(seen);
    }
    return seen;
  } finally {
    await free();
  }
}

/** Returns whether the wait of a held request is over. A client that asks for 0 seconds does not wait. */
export const isOver = ({ clock, endsAt, draining }: Wait): boolean => steadyTimeOf(clock) >= endsAt || draining?.aborted === true;

/** Pauses a held request for a second, or until its wait ends. */
async function pause({ clock, endsAt, draining }: Wait): Promise<void> {
  const second = clock.wait(Math.min(secondInMilliseconds, endsAt - steadyTimeOf(clock)));
  await (draining ? untilAborted(second, draining).catch(() => undefined) : second);
}

/**
 * A function that frees the slot of a held request, for other requests to wait. Never throws: a slot that cannot be freed
 * becomes free by itself soon after the wait.
 */
export type FreeSlot = () => Promise<void>;

/**
 * The time after the end of a wait, in milliseconds, when the slot of the held request becomes free by itself, in case its
 * function has died. It is longer than the last check of a wait may take.
 */
const graceInMilliseconds = 10_000;

const attempts = 3;

/**
 * Takes a slot for a request that is to be held. An endpoint has as many slots as requests may be held on the stage. Each domain
 * may use only `perDomain` of them, which follow from its name (docs/adr/0011-waiting.md). Costs a write unit, another one to
 * free the slot, and some more with up to two read units if many slots are taken.
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

/**
 * Returns the numbers of the slots in which requests of a domain may be held: consecutive numbers, from one that a hash of the
 * domain's name selects. They wrap around at the last slot.
 */
function slotsOf({ domain, perStage, perDomain }: Wait): number[] {
  const first = createHash('sha256').update(domain).digest().readUInt32BE();
  return Array.from({ length: Math.min(perStage, perDomain) }, (_, index) => (first + index) % perStage);
}

function take(table: Table, { endpoint, clock, endsAt }: Wait, slot: number, holder: string): Promise<boolean> {
  const left = endsAt - steadyTimeOf(clock);
  const item = { ...waitKeys.slot(endpoint, slot), slot, holder, taken_until: clock.now() + left + graceInMilliseconds };
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
    await deleteItemIf(table, waitKeys.slot(endpoint, slot), hasAttributes({ holder }));
  } catch (error) {
    log('WARN', 'The slot of a wait was not freed. It becomes free by itself.', {}, error);
  }
}
