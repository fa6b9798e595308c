import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startStack, type Stack } from '../../local/stack.ts';
import { callAs, type Call } from '../support/ready-computation.ts';
import { testClock } from '../support/test-clock.ts';
import { repeating } from '../support/repeating-call.ts';

let stack: Stack;
let call: Call;
beforeAll(async () => {
  // So that no retry runs out of time: the subject is what is linked, not how quickly.
  stack = await startStack({ port: 0, simulator: false, clock: testClock({ speed: 1 / 20 }) });
  call = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator'])));
});
afterAll(() => stack.stop());

async function createDataset(index: number): Promise<string> {
  const asset = { file_name: `${index}.csv`, asset_type: 'dataset', asset: btoa(`${index}`) };
  return String((await call('POST', '/d1/assets', { asset })).body['id']);
}

describe('105 links to one computation at the same time over HTTP', () => {
  it('link 100 datasets and refuse five with 413, while other requests are answered', async () => {
    const id = String((await call('POST', '/d1/computations', { name: 'Iris' })).body['id']);
    const datasets = await Promise.all(Array.from({ length: 105 }, (_, index) => createDataset(index)));
    const linking = datasets.map((dataset) => call('POST', `/d1/assets/${dataset}/${id}`));
    let isLinked = false;
    const links = Promise.all(linking).finally(() => (isLinked = true));
    expect((await call('GET', '/health')).status).toBe(200);
    expect((await call('GET', `/d1/computations/${id}?peek=true`)).status).toBe(200);
    expect(isLinked).toBe(false);

    const answers = await links;
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused.map(({ status, body }) => [status, body['code']])).toEqual(Array(5).fill([413, 'too_large']));
    const { body } = await call('GET', `/d1/computations/${id}`);
    expect(body['assets']).toHaveLength(100);
  });
});
