import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importHandler } from '../../local/functions/local-functions.ts';
import { startStack } from '../../local/stack.ts';
import { testClock } from '../support/test-clock.ts';

describe('startStack with state whose deletions were interrupted', () => {
  it('waits 10 s for the deletions, serves while they continue, and ends after them', async () => {
    const data = mkdtempSync(join(tmpdir(), 'deletions-'));
    const clock = testClock();
    const purging = Promise.withResolvers<undefined>();
    let purges = 0;
    const purge = async () => {
      purges++;
      await purging.promise;
    };
    let hasStarted = false;
    const starting = startStack({
      port: 0,
      dataDirectory: data,
      simulator: false,
      schedules: false,
      clock,
      load: (name) => (name === 'maintenance/purge' ? Promise.resolve(purge) : importHandler(name)),
    }).finally(() => (hasStarted = true));
    await expect.poll(() => purges).toBe(1);
    await new Promise(setImmediate);
    expect(hasStarted).toBe(false);

    clock.move(10_000);
    const stack = await starting;
    expect((await fetch(`${stack.baseUrl}/health`)).status).toBe(200);

    let hasStopped = false;
    const stopping = stack.stop().then(() => (hasStopped = true));
    await expect.poll(() => fetch(`${stack.baseUrl}/health`).catch(() => 'refused')).toBe('refused');
    expect(hasStopped).toBe(false);
    purging.resolve(undefined);
    await stopping;
    rmSync(data, { recursive: true });
  });
});
