import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient } from '../../../packages/client/calls/create-client.ts';
import { items, page, pages } from '../../../packages/client/calls/pages.ts';
import { isEndOfRun, waitForRun, watchEvents, watchRun } from '../../../packages/client/calls/watch.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { createReadyComputation } from '../../support/ready-computation.ts';

let stack: Stack;
let client: Client;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: true });
  client = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: await stack.token('alice', ['d1:administrator']) });
});
afterAll(() => stack.stop());

/** Returns a client for which the service is away until it says so, and what it says. */
async function clientOfAwayService() {
  let isAway = true;
  const told: string[] = [];
  const away = createClient({
    baseUrl: stack.baseUrl,
    domain: 'd1',
    token: await stack.token('alice', ['d1:administrator']),
    retry: { attempts: 1 },
    fetch: async (request) => (isAway ? Promise.reject(new TypeError('away')) : await fetch(request)),
  });
  const listeners = {
    onInterruption: ({ code }: { code: string }) => {
      told.push(code);
      isAway = false;
    },
    onRecovery: () => told.push('back'),
  };
  return { away, told, listeners };
}

describe('a client of the service', () => {
  it('watches a run from its start to its end, and returns how it ended', async () => {
    const { id } = await createReadyComputation(client, 'Iris');
    const run = await client.startRun({ id, cvm: 'sim-1' });
    const types: string[] = [];
    const ended = await waitForRun(client, { id, run, onEvent: ({ event_type }) => types.push(event_type) });
    expect(ended).toMatchObject({ id: run, status: 'completed' });
    expect(types.slice(0, 2)).toEqual(['started', 'ReceivingAlgorithm']);
    expect(types.at(-1)).toBe('completed');
    const again: string[] = [];
    for await (const { event_type } of watchRun(client, { id })) again.push(event_type);
    expect(again).toEqual(types);
  });

  it('sees every event of a run once, although every third answer is lost', async () => {
    const { id } = await createReadyComputation(client, 'Iris');
    let answers = 0;
    const lossy = createClient({
      baseUrl: stack.baseUrl,
      domain: 'd1',
      token: await stack.token('alice', ['d1:administrator']),
      retry: { attempts: 2, firstPauseInMilliseconds: 1 },
      fetch: async (request) => {
        const response = await fetch(request);
        answers++;
        if (answers % 3 === 0) throw new TypeError('The answer was lost.');
        return response;
      },
    });
    const run = await lossy.startRun({ id, cvm: 'sim-1' });
    const seen: string[] = [];
    expect(await waitForRun(lossy, { id, run, onEvent: (event) => seen.push(event.id) })).toMatchObject({ status: 'completed' });
    const { events } = await client.listEvents({ id, run_id: run, limit: 100 });
    const journal = events.toReversed();
    const untilEnd = journal.slice(0, journal.findIndex(isEndOfRun) + 1); // the CVM may report more afterwards
    expect(seen).toEqual(untilEnd.map((event) => event.id));
    expect((await client.listRuns({ computation_id: id })).total).toBe(1);
  });

  it('goes on watching after the service was away, and says when it is back', async () => {
    const { id } = await client.createComputation({ body: { name: 'Away' } });
    const { away, told, listeners } = await clientOfAwayService();
    const watched = watchEvents(away, { id, ...listeners });
    expect((await watched.next()).value.event_type).toBe('created');
    expect(told).toEqual(['unreachable', 'back']);
  });

  it('waits for a service that is away when the watch of a run begins', async () => {
    const { id } = await createReadyComputation(client, 'Iris');
    const run = await client.startRun({ id, cvm: 'sim-reject-1' });
    const { away, told, listeners } = await clientOfAwayService();
    const ended = await waitForRun(away, { id, run, ...listeners });
    expect(ended).toMatchObject({ id: run, status: 'failed' });
    expect(told).toEqual(['unreachable', 'back']);
  });

  it('ends a watch from after the last event of a run that has ended, without events', async () => {
    const { id } = await createReadyComputation(client, 'Iris');
    await client.startRun({ id, cvm: 'sim-reject-1' });
    await waitForRun(client, { id });
    const { events } = await client.listEvents({ id, limit: 1 });
    const watch = watchRun(client, { id, after: events[0]?.id });
    expect(await watch.next()).toMatchObject({ done: true, value: { status: 'failed' } });
  });

  it('ends a watch of events by its signal', async () => {
    const { id } = await client.createComputation({ body: { name: 'Watched' } });
    const ending = new AbortController();
    const seen: string[] = [];
    const watcher = createClient({
      baseUrl: stack.baseUrl,
      domain: 'd1',
      token: await stack.token('alice', ['d1:administrator']),
      fetch: async (request) => {
        const answer = fetch(request);
        if (seen.length > 0) ending.abort(new Error('enough')); // while the service holds the request for the next event
        return await answer;
      },
    });
    const watching = async () => {
      for await (const { event_type } of watchEvents(watcher, { id, signal: ending.signal })) seen.push(event_type);
    };
    await expect(watching()).rejects.toThrow('enough');
    expect(seen).toEqual(['created']);
  });

  it('throws the problem that the service answers, with its fields', async () => {
    const { id } = await client.createComputation({ body: { name: 'Empty' } });
    await expect(client.startRun({ id, cvm: 'sim-1' })).rejects.toMatchObject({
      name: 'ServiceProblem',
      status: 422,
      code: 'incomplete',
      missing_items: { keys: ['alice'], info: ['Missing algorithm'] },
      requestId: expect.any(String),
      request: `POST /d1/computations/${id}/run`,
    });
    await expect(client.listRuns({ limit: 1_000 })).rejects.toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: 'query/limit' }],
    });
    const stranger = createClient({ baseUrl: stack.baseUrl, domain: 'd1', token: 'none' });
    await expect(stranger.listRuns()).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
  });

  it('answers a conditional request with 304 and no data', async () => {
    const { id } = await client.createComputation({ body: { name: 'Tagged' } });
    const { response } = await client.call('getComputation', { id });
    const again = await client.call('getComputation', { id, ifNoneMatch: response.headers.get('etag') ?? '' });
    expect([again.response.status, again.data]).toEqual([304, undefined]);
    const late = client.updateComputation({ id, body: { name: 'Other' }, ifMatch: '"old"' });
    await expect(late).rejects.toMatchObject({ code: 'precondition_failed' });
    expect(await client.deleteComputation({ id })).toBeUndefined();
  });

  it('goes through all entries of a list, page by page', async () => {
    const made: string[] = [];
    for (let i = 0; i < 7; i++)
      made.unshift((await client.createComputation({ domainID: 'd1', body: { name: `${i}`, owner: 'pages' } })).id);
    const sizes: number[] = [];
    for await (const each of pages(client, 'listComputations', { owner: 'pages', limit: 3 })) sizes.push(each.items.length);
    expect(sizes).toEqual([3, 3, 1]);
    const ids: string[] = [];
    for await (const { id } of items(client, 'listComputations', { owner: 'pages', limit: 3 })) ids.push(id);
    expect(ids).toEqual(made);
    expect(await page(client, 'listComputations', { owner: 'pages', limit: 2, offset: 6 })).toMatchObject({
      items: [{ id: made[6] }],
      total: 7,
    });
  });
});
