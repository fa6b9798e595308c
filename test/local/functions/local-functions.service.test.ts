import { describe, expect, it } from 'vitest';
import { localFunctions } from '../../../local/functions/local-functions.ts';
import { testClock } from '../../support/test-clock.ts';

/** A function whose invocations end when the test decides. */
function heldFunction() {
  const started: { event: unknown; remaining: number; end: () => void }[] = [];
  const handler = async (event: unknown, { getRemainingTimeInMillis }: { getRemainingTimeInMillis: () => number }) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    started.push({ event, remaining: getRemainingTimeInMillis(), end: () => resolve(undefined) });
    await promise;
    return event;
  };
  return { started, handler };
}

const eventsOf = ({ started }: ReturnType<typeof heldFunction>) => started.map(({ event }) => event);

/** The number of invocations of a function that changes the table that run at a time. */
const changesAtATime = 3;

const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));

describe('localFunctions', () => {
  it.each([
    ['a function that changes the table', 'assets/link-asset', changesAtATime],
    ['a function that only reads', 'assets/list-assets', 16],
    ['a GET that records who has read', 'assets/get-asset', 16],
    ['a GET whose first request makes what it returns', 'evidence/get-evidence', 16],
    ['a change that can be asked for by GET too', 'runs/stop-run', changesAtATime],
    ['the function that folds lists, a call each', 'maintenance/follow-table', 16],
    ['a function that holds requests, and notes that a CVM was heard', 'cvms/list-commands', 216],
  ])('limits the concurrent invocations of %s, and starts the others in order', async (_kind, name, limit) => {
    const held = heldFunction();
    const invoke = localFunctions({ load: () => Promise.resolve(held.handler) });
    const answers = times(limit + 2, (index) => invoke(name, index));
    await expect.poll(() => eventsOf(held)).toEqual(times(limit, (index) => index));
    held.started[1]?.end();
    await expect.poll(() => eventsOf(held)).toEqual(times(limit + 1, (index) => index));
    held.started[0]?.end();
    await expect.poll(() => held.started.length).toBe(limit + 2);
    for (const { end } of held.started) end();
    expect(await Promise.all(answers)).toEqual(times(limit + 2, (index) => index));
  });

  it('runs one invocation of a scheduled task at a time', async () => {
    const held = heldFunction();
    const invoke = localFunctions({ load: () => Promise.resolve(held.handler) });
    const answers = times(2, (index) => invoke('maintenance/purge', index));
    await expect.poll(() => eventsOf(held)).toEqual([0]);
    held.started[0]?.end();
    await expect.poll(() => eventsOf(held)).toEqual([0, 1]);
    held.started[1]?.end();
    expect(await Promise.all(answers)).toEqual([0, 1]);
  });

  it('runs one function while invocations of another one wait', async () => {
    const held = heldFunction();
    const invoke = localFunctions({
      load: (name) => Promise.resolve(name === 'assets/link-asset' ? held.handler : (event) => ({ answered: event })),
    });
    const waiting = times(changesAtATime + 2, () => invoke('assets/link-asset', {}));
    await expect.poll(() => held.started.length).toBe(changesAtATime);
    expect(await invoke('service/health', 'how are you')).toEqual({ answered: 'how are you' });
    for (let ended = 0; ended < waiting.length; ended++) {
      await expect.poll(() => held.started.length).toBeGreaterThan(ended);
      held.started[ended]?.end();
    }
    await Promise.all(waiting);
  });

  it('starts the timeout of an invocation when it begins, however long it waited', async () => {
    const clock = testClock();
    const held = heldFunction();
    const invoke = localFunctions({ load: () => Promise.resolve(held.handler), clock });
    const answers = times(changesAtATime + 1, (index) => invoke('assets/link-asset', index));
    await expect.poll(() => held.started.length).toBe(changesAtATime);
    clock.move(20_000);
    held.started[0]?.end();
    await expect.poll(() => held.started.length).toBe(changesAtATime + 1);
    expect(held.started[changesAtATime]?.remaining).toBeGreaterThan(25_000);
    for (const { end } of held.started) end();
    await Promise.all(answers);
  });

  it.each([
    ['an endpoint', 'assets/link-asset', 30],
    ['a task', 'maintenance/receive-upload', 900],
  ])('fails an invocation of %s after its timeout, and starts the next one', async (_kind, name, timeoutInSeconds) => {
    const clock = testClock();
    const held = heldFunction();
    const load = (loaded: string) => Promise.resolve(loaded === name ? held.handler : (event: unknown) => event);
    const invoke = localFunctions({ load, clock });
    let settled = 0;
    const hanging = times(changesAtATime, () =>
      invoke(name, 'hangs')
        .catch((error: unknown) => error)
        .finally(() => settled++),
    );
    const next = invoke(name, 'next');
    await expect.poll(() => held.started.length).toBe(changesAtATime);
    clock.move((timeoutInSeconds - 15) * 1_000);
    // A function invoked now runs to its end, so a timeout that had fired would have settled too.
    expect(await invoke('service/health', 'meanwhile')).toBe('meanwhile');
    expect(settled).toBe(0);
    clock.move(15_000);
    const error = { name: 'Sandbox.Timedout', message: `${name} took longer than ${timeoutInSeconds} s.` };
    for (const each of hanging) expect(await each).toMatchObject(error);
    await expect.poll(() => held.started.length).toBe(changesAtATime + 1);
    held.started[changesAtATime]?.end();
    expect(await next).toBe('next');
  });
});
