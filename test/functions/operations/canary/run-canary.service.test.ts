import { type Client, createClient } from 'computation-management-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runCanary, type CanaryOptions } from '../../../../functions/operations/canary/run-canary.ts';
import { startStack, type Stack } from '../../../../local/stack.ts';
import { untilTestEnds } from '../../../support/patience.ts';

let stack: Stack;
let client: Client;
let options: CanaryOptions;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false, times: { stopInSeconds: 1 } });
  const token = await stack.token('canary', ['canary:administrator', 'canary:cvm']);
  client = createClient({ baseUrl: stack.baseUrl, domain: 'canary', token });
  options = {
    baseUrl: stack.baseUrl,
    domain: 'canary',
    token: async () => token,
    signal: AbortSignal.timeout(untilTestEnds.timeout),
  };
});
afterAll(() => stack.stop());

const totals = async () => {
  const [computations, assets, runs] = await Promise.all([client.listComputations(), client.listAssets(), client.listRuns()]);
  return [computations.total, assets.total, runs.total];
};

afterEach(async () => {
  for (const { id } of (await client.listComputations()).computations) await client.deleteComputation({ id });
  for (const { id } of (await client.listAssets()).assets) await client.deleteAsset({ id });
});

describe('runCanary', () => {
  it('runs a computation to its end, tells how long each step took, and leaves nothing', async () => {
    const milliseconds = await runCanary(options);
    expect(Object.keys(milliseconds)).toEqual([
      'sign in',
      'delete what earlier calls left',
      'create a computation',
      'upload a key',
      'store an algorithm',
      'announce a dataset',
      'upload the dataset',
      'link both',
      'see that nothing is missing',
      'start a run',
      'see the run end',
      'find the outcome',
      'delete what it made',
    ]);
    await expect.poll(totals, untilTestEnds).toEqual([0, 0, 0]);
  });

  it('fails with the reason of the run if the CVM rejects it, and leaves nothing', async () => {
    await expect(runCanary({ ...options, cvmId: 'sim-reject-1' })).rejects.toThrow(
      'Could not find the outcome: the run is failed: The CVM rejected the run: This simulated CVM rejects every run.',
    );
    await expect.poll(totals, untilTestEnds).toEqual([0, 0, 0]);
  });

  it('fails if it cannot sign in, or is signed in without a role in its domain', async () => {
    const refused = { ...options, token: () => Promise.reject(new Error('The user pool refused the user canary.')) };
    await expect(runCanary(refused)).rejects.toThrow('Could not sign in: The user pool refused the user canary.');
    const stranger = await stack.token('canary', ['d1:administrator']);
    await expect(runCanary({ ...options, token: async () => stranger })).rejects.toThrow(
      'Could not delete what earlier calls left: The token has no role in the domain canary.',
    );
  });

  it('fails if the service cannot be reached', async () => {
    await expect(runCanary({ ...options, baseUrl: 'http://127.0.0.1:9' })).rejects.toThrow(
      /^Could not .*: No answer from http:\/\/127\.0\.0\.1:9/,
    );
  });

  it('fails when its time is over, and stops the active run', async () => {
    const ending = new AbortController();
    const calling = runCanary({ ...options, signal: ending.signal, cvmId: 'sim-silent-1' });
    const reported = async () => {
      const [run] = (await client.listRuns()).runs;
      return run ? (await client.listEvents({ id: run.computation_id })).events.map(({ event_type }) => event_type) : [];
    };
    await expect.poll(reported, untilTestEnds).toContain('ReceivingAlgorithm');
    ending.abort(new Error('The time is over.'));
    await expect(calling).rejects.toThrow('Could not see the run end: The time is over.');
    await expect
      .poll(async () => (await client.listRuns()).runs.map(({ status }) => status), untilTestEnds)
      .toEqual(['cancelled']);
  });
});
