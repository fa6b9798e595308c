import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFunctions, bundleLimitInBytes, type Bundle } from '../../../infra/bundles/bundle-functions.ts';
import { functionNames } from '../../../infra/bundles/function-names.ts';
import { variablesOf } from '../../../infra/service/function-variables.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import { variablesRead } from '../../support/variables-read.ts';

describe('the bundles', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
  let bundles: Bundle[];

  beforeAll(async () => {
    bundles = await bundleFunctions(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('include exactly one for each function', () => {
    expect(bundles.map(({ name }) => name).sort()).toEqual([...functionNames].sort());
  });

  it.each(functionNames)('keep %s within the size limit', (name) => {
    expect(bundles.find((bundle) => bundle.name === name)?.bytes).toBeLessThanOrEqual(bundleLimitInBytes);
  });

  it.each(functionNames)('let %s load on its own and export a handler', async (name) => {
    const module = (await import(/* @vite-ignore */ join(folder, name, 'index.mjs'))) as { handler: unknown };
    expect(module.handler).toBeTypeOf('function');
  });

  it.each(functionNames)('read in %s every variable of its deployment, and none that is missing there', (name) => {
    // A public endpoint has the code that reads the claims of callers, but never a caller.
    const unreached = routes.some((route) => route.name === name && !('access' in route)) ? ['MEMBERSHIP_CLAIM'] : [];
    const read = variablesRead(join(folder, name, 'index.mjs')).filter((variable) => !unreached.includes(variable));
    expect(read.sort()).toEqual(variablesOf(name).sort());
  });
});
