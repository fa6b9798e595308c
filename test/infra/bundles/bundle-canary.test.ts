import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bundleCanary } from '../../../infra/bundles.ts';

describe('the bundle of the canary', () => {
  const folder = mkdtempSync(join(tmpdir(), 'canary-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('loads on its own and exports a handler, and is far below what a function may have', async () => {
    await bundleCanary(folder);
    const file = join(folder, 'index.mjs');
    const { handler } = (await import(/* @vite-ignore */ file)) as { handler: unknown };
    expect(handler).toBeTypeOf('function');
    expect(statSync(file).size).toBeLessThan(1_000_000);
  });
});
