import { describe, expect, it } from 'vitest';
import { localFunctions } from '../../../infra/local/local-functions.ts';
import { movableClock } from '../../support/movable-clock.ts';

/** A function whose invocations end when the test says so. */
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

describe('localFunctions', () => {
  it('runs 8 invocations of one function at the same time, and begins the others in the order in which they came', async () => {
    const held = heldFunction();
    const invoke = localFunctions({ load: () => Promise.resolve(held.handler) });
    const answers = Array.from({ length: 10 }, (_, index) => invoke('links/link', index));
    await expect.poll(() => eventsOf(held)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    held.started[3]?.end();
    await expect.poll(() => eventsOf(held)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    held.started[0]?.end();
    await expect.poll(() => held.started.length).toBe(10);
    for (const { end } of held.started) end();
    expect(await Promise.all(answers)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('answers for one function while invocations of another one wait', async () => {
    const held = heldFunction();
    const invoke = localFunctions({
      load: (name) => Promise.resolve(name === 'held' ? held.handler : (event) => ({ answered: event })),
    });
    const waiting = Array.from({ length: 20 }, () => invoke('held', {}));
    await expect.poll(() => held.started.length).toBe(8);
    expect(await invoke('service/health', 'how are you')).toEqual({ answered: 'how are you' });
    for (let ended = 0; ended < 20; ended++) {
      await expect.poll(() => held.started.length).toBeGreaterThan(ended);
      held.started[ended]?.end();
    }
    await Promise.all(waiting);
  });

  it('gives an invocation its whole time from the moment it begins, however long it waited', async () => {
    const clock = movableClock();
    const held = heldFunction();
    const invoke = localFunctions({ load: () => Promise.resolve(held.handler), clock });
    const answers = Array.from({ length: 9 }, (_, index) => invoke('links/link', index));
    await expect.poll(() => held.started.length).toBe(8);
    clock.move(29_000);
    held.started[0]?.end();
    await expect.poll(() => held.started.length).toBe(9);
    expect(held.started[8]?.remaining).toBeGreaterThan(29_900);
    for (const { end } of held.started) end();
    await Promise.all(answers);
  });

  it.each([
    ['an endpoint', 'assets/link-asset', 30],
    ['a task', 'maintenance/purge', 900],
  ])('ends an invocation of %s after its timeout, and lets the next one begin', async (_kind, name, timeoutInSeconds) => {
    const clock = movableClock();
    const held = heldFunction();
    const invoke = localFunctions({ load: () => Promise.resolve(held.handler), clock });
    const hanging = Array.from({ length: 8 }, () => invoke(name, 'hangs').catch((error: unknown) => error));
    const next = invoke(name, 'next');
    await expect.poll(() => held.started.length).toBe(8);
    clock.move((timeoutInSeconds - 5) * 1_000);
    expect(await Promise.race([...hanging, 'nothing has ended'])).toBe('nothing has ended');
    clock.move(5_000);
    const error = { name: 'Sandbox.Timedout', message: `${name} took longer than ${timeoutInSeconds} s.` };
    for (const each of hanging) expect(await each).toMatchObject(error);
    await expect.poll(() => held.started.length).toBe(9);
    held.started[8]?.end();
    expect(await next).toBe('next');
  });
});
