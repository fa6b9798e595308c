import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { repeating } from '../support/repeating-call.ts';

let stack: Stack;
let call: Call;
beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  call = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator'])));
});
afterAll(async () => {
  await stack.stop();
});

interface Page {
  events: { id: string; event_type: string }[];
  total: number;
}

const mostLost = 5;

/** Watches until it has seen so many events. Gives up a few requests after a random time, so that their answers are lost. */
async function watch(path: string, count: number, query: string): Promise<{ seen: string[]; lost: number }> {
  const token = await stack.token('bob', ['d1:viewer']);
  const seen: string[] = [];
  let lost = 0;
  while (seen.length < count) {
    const address = `${stack.baseUrl}${path}?after=${seen.at(-1) ?? ''}&wait=20&${query}`;
    try {
      const signal = lost < mostLost ? AbortSignal.timeout(Math.random() * 1_200) : null;
      const response = await fetch(address, { headers: { authorization: `Bearer ${token}` }, signal });
      const { events } = (await response.json()) as Page;
      seen.push(...events.map(({ id }) => id));
    } catch {
      lost++;
    }
  }
  return { seen, lost };
}

describe('watchers whose connections break again and again', () => {
  it('see every event once, in order, while others write', async () => {
    const id = String((await call('POST', '/d1/computations', { name: 'Watched' })).body['id']);
    const path = `/d1/computations/${id}/events`;
    const changes = 24;
    const watchers = Promise.all([
      ...Array.from({ length: 6 }, () => watch(path, changes + 1, 'limit=4')),
      ...Array.from({ length: 3 }, () => watch(path, changes, 'event_type=updated')),
    ]);
    const writers = [0, 1, 2].map(async (writer) => {
      for (let change = 0; change < changes / 3; change++) {
        const name = `Change ${change} by ${writer}`;
        expect((await call('PUT', `/d1/computations/${id}`, { name })).status).toBe(200);
      }
    });
    await Promise.all(writers);
    const journal = ((await call('GET', `${path}?limit=100`)).body as unknown as Page).events.toReversed();
    const results = await watchers;
    for (const { seen } of results.slice(0, 6)) expect(seen).toEqual(journal.map((event) => event.id));
    const updates = journal.filter(({ event_type }) => event_type === 'updated').map((event) => event.id);
    for (const { seen } of results.slice(6)) expect(seen).toEqual(updates);
    expect(results.reduce((sum, { lost }) => sum + lost, 0)).toBeGreaterThan(0);
  });
});
