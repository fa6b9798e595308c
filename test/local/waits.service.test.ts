import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { testClock } from '../support/test-clock.ts';
import { untilTestEnds } from '../support/patience.ts';
import { watchFunctions } from '../support/recorded-calls.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

const movable = testClock();
let waits = 0;
let waitsBegun = 0;
/** Counts the functions that are waiting, so that the time is moved only then. */
const clock = {
  ...movable,
  wait: async (milliseconds: number) => {
    waits++;
    waitsBegun++;
    await movable.wait(milliseconds);
    waits--;
  },
};
const functions = watchFunctions();
let stack: Stack;
let call: Call;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false, load: functions.load, clock, schedules: false });
  call = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator', 'd1:cvm'])));
});

afterAll(async () => {
  await stack.stop();
});

interface Page {
  events: { id: string }[];
  total: number;
}

/** A new computation, and the path that waits for an event after its only one. */
async function aWaitingPath(): Promise<{ id: string; waiting: string }> {
  const id = String((await call('POST', '/d1/computations', { name: 'Watched' })).body['id']);
  const events = `/d1/computations/${id}/events`;
  const { body } = await call('GET', events);
  return { id, waiting: `${events}?after=${(body as unknown as Page).events[0]?.id ?? ''}&wait=20` };
}

/** Moves the time whenever the function waits, until the answer is there. Returns how many seconds it took. */
async function secondsUntil(answer: Promise<unknown>): Promise<number> {
  const startedAt = clock.now();
  let isDone = false;
  const done = answer.finally(() => (isDone = true));
  await vi.waitUntil(() => {
    if (!isDone && waits > 0) clock.move(1_000);
    return isDone;
  }, untilTestEnds);
  await done;
  return (clock.now() - startedAt) / 1000;
}

const begun = (name: string, times: number) =>
  expect.poll(() => functions.invocationsOf(name).begun).toBeGreaterThanOrEqual(times);

describe('a request that waits on one machine', () => {
  it.each(['events', 'commands'])('gets an empty list of %s after 20 seconds, before its function times out', async (kind) => {
    const path = kind === 'events' ? (await aWaitingPath()).waiting : '/d1/cvms/cvm-1/commands?wait=20';
    const answer = call('GET', path);
    expect(await secondsUntil(answer)).toBeGreaterThanOrEqual(20);
    expect(await answer).toMatchObject({ status: 200, body: { [kind]: [] } });
  });

  it('is not held if it is a HEAD', async () => {
    for (const path of [(await aWaitingPath()).waiting, '/d1/cvms/cvm-1/commands?wait=20']) {
      const before = waitsBegun;
      expect((await call('HEAD', path)).status).toBe(200);
      expect(waitsBegun).toBe(before);
    }
  });

  it('keeps no ordinary request of the same endpoint from its answer, even beside 60 others', async () => {
    const { id, waiting } = await aWaitingPath();
    const { begun: before } = functions.invocationsOf('events/list-events');
    const untilEvent = async (): Promise<unknown> => {
      const startedAt = clock.now();
      const { body } = await call('GET', waiting);
      if ((body as unknown as Page).events.length > 0) return body;
      expect(clock.now() - startedAt).toBeGreaterThan(19_000); // a busy machine may need 20 seconds for the change
      return await untilEvent();
    };
    const answers = Promise.all(Array.from({ length: 60 }, untilEvent));
    await begun('events/list-events', before + 60);
    expect(await call('GET', `/d1/computations/${id}/events`)).toMatchObject({ body: { total: 1 } });
    await call('PUT', `/d1/computations/${id}`, { name: 'Renamed' });
    for (const page of await answers) expect(page).toMatchObject({ total: 2, events: [{ event_type: 'updated' }] });
  });

  it('gets an empty page at once when the service stops', async () => {
    const { waiting } = await aWaitingPath();
    const { begun: before } = functions.invocationsOf('events/list-events');
    const answer = call('GET', waiting);
    await begun('events/list-events', before + 1);
    await stack.stop();
    expect(await answer).toMatchObject({ status: 200, body: { events: [], total: 1 } });
  });
});
