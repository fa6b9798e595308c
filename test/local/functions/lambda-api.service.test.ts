import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLambdaApi } from '../../../local/functions/lambda-api.ts';
import type { Listening } from '../../../local/machine/listen.ts';

const invoked: unknown[] = [];
let lambda: Listening;
beforeAll(async () => {
  lambda = await startLambdaApi({ invoke: (name, event) => void invoked.push([name, event]) });
});
afterAll(() => lambda.stop());

const invoke = (name: string, { type = 'Event', body = '{}' } = {}) =>
  fetch(`${lambda.endpoint}/2015-03-31/functions/${name}/invocations`, {
    method: 'POST',
    headers: { 'x-amz-invocation-type': type },
    body,
  });

describe('the Lambda of one machine', () => {
  it('accepts an event for a task, and calls it behind the answer', async () => {
    const response = await invoke('maintenance%2Fpurge', { body: '{"reason":"deleted"}' });
    expect([response.status, await response.text()]).toEqual([202, '']);
    expect(invoked).toEqual([['maintenance/purge', { reason: 'deleted' }]]);
  });

  it.each([
    ['a function that does not exist', 'maintenance%2Fburn', {}, 404, 'ResourceNotFoundException'],
    ['an endpoint', 'computations%2Fget-computation', {}, 404, 'ResourceNotFoundException'],
    ['another type', 'maintenance%2Fpurge', { type: 'RequestResponse' }, 400, 'InvalidParameterValueException'],
    ['an event that is no JSON', 'maintenance%2Fpurge', { body: '{' }, 400, 'InvalidRequestContentException'],
    ['a name that is not encoded well', 'maintenance%2', {}, 400, 'InvalidRequestContentException'],
  ])('refuses %s', async (_what, name, options, status, type) => {
    const before = invoked.length;
    const response = await invoke(name, options);
    expect([response.status, response.headers.get('x-amzn-errortype')]).toEqual([status, type]);
    expect(invoked).toHaveLength(before);
  });
});
