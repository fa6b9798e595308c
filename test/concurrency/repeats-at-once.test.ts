import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../shared/clock.ts';
import { inconsistencies, scan } from '../support/lifecycle-inconsistencies.ts';
import { keyedNames, type KeyedName, type KeyedRequest } from '../support/keyed-requests.ts';
import { stepsOf, type Answered, type Steps } from '../support/keyed-steps.ts';
import { startLifecycleStack, type LifecycleStack } from '../support/lifecycle-stack.ts';

let lifecycle: LifecycleStack;
beforeAll(async () => {
  lifecycle = await startLifecycleStack();
});
afterAll(() => lifecycle.stop());

const requestsAtOnce = 20;

async function sendUntilAnswered(steps: Steps, name: KeyedName, request: KeyedRequest, key: string): Promise<Answered> {
  for (;;) {
    const answered = await steps.send(name, request, { 'idempotency-key': key });
    if (answered.status !== 503) return answered;
    await systemClock.wait(Number(answered.headers.get('retry-after')) * 1000);
  }
}

describe('equal requests at once with the same Idempotency-Key', () => {
  it.each(keyedNames)('to %s make one change, and all get its answer', async (name) => {
    const domain = `d-${randomUUID()}`;
    const token = await lifecycle.stack.token('alice', [`${domain}:administrator`]);
    const steps = stepsOf(lifecycle.stack.baseUrl, domain, token);
    const [request, key] = [await steps.prepare(name), randomUUID()];
    const before = await countsOf(steps, domain, request);
    const answers = await Promise.all(Array.from({ length: requestsAtOnce }, () => sendUntilAnswered(steps, name, request, key)));
    const told = answers.map(({ status, body: { upload: _, ...body } }) => JSON.stringify([status, body]));
    expect(new Set(told).size).toBe(1);
    expect(answers[0]?.status).toBeLessThan(300);
    expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    const after = await countsOf(steps, domain, request);
    for (const [index, count] of after.entries()) expect(Math.abs(count - (before[index] ?? 0))).toBeLessThanOrEqual(1);
    await lifecycle.stack.invoke('maintenance/purge', {});
    expect(inconsistencies(await scan(lifecycle.table))).toEqual([]);
  });
});

/** The number of computations, assets, runs and events. */
async function countsOf({ get }: Steps, domain: string, { computation }: KeyedRequest): Promise<number[]> {
  const lists = ['computations', 'assets', 'computations/runs', ...(computation ? [`computations/${computation}/events`] : [])];
  const answers = await Promise.all(lists.map((list) => get(`/${domain}/${list}`)));
  return answers.map(({ body }) => Number(body['total'] ?? 0));
}
