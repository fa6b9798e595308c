import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFunctions } from '../../../infra/bundles/bundle-functions.ts';
import { type Stack, startStack } from '../../../infra/local/stack.ts';
import { schedules } from '../../../infra/schedules.ts';
import { loadBundled } from '../../support/bundled-functions.ts';
import { type Call, callAs, readyComputation } from '../local/ready-computation.ts';

// The end-to-end suite is HTTP only. It never calls the scheduled functions.
const names = schedules.map(({ name }) => name);

describe('the bundle of the scheduled function', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bundled-tasks-'));
  let stack: Stack;
  let call: Call;

  beforeAll(async () => {
    await bundleFunctions(folder);
    stack = await startStack({ port: 0, simulator: false, schedules: false, load: loadBundled(folder) });
    call = callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator']));
  });
  afterAll(async () => {
    await stack.stop();
    rmSync(folder, { recursive: true });
  });

  it.each(names)('%s works with only the environment variables of its deployment', async (name) => {
    const id = await readyComputation(call);
    expect((await call('POST', `/d1/computations/${id}/run?cvm=${encodeURIComponent(name.replace('/', '-'))}`)).status).toBe(200);
    const { body } = await call('POST', '/d1/assets', {
      asset: { file_name: 'iris.csv', asset_type: 'dataset', asset: btoa('1') },
    });
    expect((await call('DELETE', `/d1/assets/${String(body['id'])}`)).status).toBe(204);
    await stack.invoke(name, { grace_in_seconds: 0 });
    expect((await call('GET', `/d1/computations/${id}/run`)).body['ended_at']).toBeNull();
  });
});
