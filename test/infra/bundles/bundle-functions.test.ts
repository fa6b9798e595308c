import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleFunctions, bundleLimitInBytes, type Bundle } from '../../../infra/bundles/bundle-functions.ts';
import { functionNames } from '../../../infra/bundles/function-names.ts';

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
});
