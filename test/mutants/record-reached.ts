import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect } from 'vitest';
import { reachedFunction } from './reach-points.ts';

// What a mutant breaks need not be made small: the first failure is enough.
fc.configureGlobal({ endOnFailure: true });

const directory = process.env['MUTANTS_REACHED'];
if (directory) {
  const reached = new Set<string>();
  Object.assign(globalThis, { [reachedFunction]: (id: string) => reached.add(id) });
  afterAll(() => {
    const record = { path: expect.getState().testPath, seconds: process.uptime(), reached: [...reached] };
    writeFileSync(join(directory, `${randomUUID()}.json`), JSON.stringify(record));
  });
}
