import { describe, expect, it } from 'vitest';
import { createClient } from '../../../../packages/client/calls/create-client.ts';
import { waitForRun, watchEvents } from '../../../../packages/client/calls/watch.ts';

describe('a watch of events', () => {
  it('pauses for a second where the service answers early without events, and asks on from the last event', async () => {
    const asked: { at: number; after: string | null; wait: string | null }[] = [];
    const answers = [[{ id: 'e1' }, { id: 'e2' }], [], [{ id: 'e3' }]];
    const client = createClient({
      baseUrl: 'https://service.test',
      domain: 'd1',
      fetch: ({ url }) => {
        const { searchParams } = new URL(url);
        asked.push({ at: performance.now(), after: searchParams.get('after'), wait: searchParams.get('wait') });
        return Promise.resolve(Response.json({ events: answers[asked.length - 1], total: 3, limit: 100, offset: 0 }));
      },
    });
    const seen: string[] = [];
    for await (const { id } of watchEvents(client, { id: 'c1' })) {
      seen.push(id);
      if (id === 'e3') break;
    }
    expect(seen).toEqual(['e1', 'e2', 'e3']);
    expect(asked.map(({ after, wait }) => [after, wait])).toEqual([
      ['', '20'],
      ['e2', '20'],
      ['e2', '20'],
    ]);
    const [first, early, next] = asked.map(({ at }) => at);
    expect((next ?? 0) - (early ?? 0)).toBeGreaterThanOrEqual(990);
    expect((early ?? 0) - (first ?? 0)).toBeLessThan(990); // no pause after events
  });
});

describe('a wait for a run', () => {
  it('reads the run again until it has ended, where its last event comes first', async () => {
    const reads: (string | null)[] = [null, null, null, '2026-01-01T00:00:00.000Z'];
    const client = createClient({
      baseUrl: 'https://service.test',
      domain: 'd1',
      fetch: ({ url }) => {
        if (new URL(url).pathname.endsWith('/run')) return Promise.resolve(Response.json({ id: 'r1', ended_at: reads.shift() }));
        const events = [{ id: 'e1', originator: 'system', event_type: 'completed' }];
        return Promise.resolve(Response.json({ events, total: 1, limit: 100, offset: 0 }));
      },
    });
    const startedAt = performance.now();
    expect(await waitForRun(client, { id: 'c1' })).toMatchObject({ ended_at: expect.stringMatching(/^2026/) });
    expect(reads).toEqual([]);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(390); // two pauses
  });
});
