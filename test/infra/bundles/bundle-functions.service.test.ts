import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFunctions, bundleLimitOf, functionsThatVerify, type Bundle } from '../../../infra/bundles.ts';
import { functionNames, variablesOf } from '../../../infra/service/service-function.ts';
import { startStack, type Stack } from '../../../local/stack.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import { bundledFunctions } from '../../support/bundled-functions.ts';
import { variablesRead } from '../../support/variables-read.ts';
import { callAs, readyComputation, type Call } from '../../support/ready-computation.ts';
import { schedules } from '../../../shared/tasks/tasks.ts';
import { repeating } from '../../support/repeating-call.ts';

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
/** Loaded before a stack sets its variables. */
const copies = mkdtempSync(join(tmpdir(), 'bundles-'));
let bundles: Bundle[];

beforeAll(async () => {
  ({ bundles } = await bundleFunctions(folder));
  cpSync(folder, copies, { recursive: true });
});
afterAll(() => {
  for (const each of [folder, copies]) rmSync(each, { recursive: true });
});

describe('the bundles', () => {
  it('include exactly one for each function', () => {
    expect(bundles.map(({ name }) => name).sort()).toEqual([...functionNames].sort());
  });

  it.each(functionNames)('keep %s within the size limit', (name) => {
    expect(bundles.find((bundle) => bundle.name === name)?.bytes).toBeLessThanOrEqual(bundleLimitOf(name));
  });

  it('contain no code that verifies evidence, but in the functions that verify it', () => {
    const verifies = (name: string) =>
      /SEV-VLEK|raw_report|attributesMask/.test(readFileSync(join(folder, name, 'index.mjs'), 'utf8'));
    expect(functionNames.filter(verifies).sort()).toEqual(functionsThatVerify);
  });

  it.each(functionNames)('let %s load on its own and export a handler', async (name) => {
    const module = (await import(/* @vite-ignore */ join(copies, name, 'index.mjs'))) as { handler: unknown };
    expect(module.handler).toBeTypeOf('function');
  });

  it.each(functionNames)('read in %s every variable of its deployment, and none that is missing there', (name) => {
    // A public endpoint has the code that reads the claims of callers, but never a caller.
    const unreached = routes.some((route) => route.name === name && !('access' in route)) ? ['MEMBERSHIP_CLAIM'] : [];
    const read = variablesRead(join(folder, name, 'index.mjs')).filter((variable) => !unreached.includes(variable));
    expect(read.sort()).toEqual(variablesOf(name).sort());
  });
});

describe('the bundle of the scheduled function', () => {
  // The end-to-end suite is HTTP only. It never calls the scheduled functions.
  const names = schedules.map(({ name }) => name);
  let stack: Stack;
  let call: Call;

  beforeAll(async () => {
    stack = await startStack({ port: 0, simulator: false, schedules: false, ...bundledFunctions(folder) });
    call = repeating(callAs(stack.baseUrl, await stack.token('alice', ['d1:administrator'])));
  });
  afterAll(() => stack.stop());

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
