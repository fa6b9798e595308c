import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import { reachedFunction } from './reach-points.ts';

// What a mutant breaks need not be made small: the first failure is enough.
fc.configureGlobal({ endOnFailure: true });

const file = process.env['MUTANTS_REACHED'];
if (file) {
  const seen = new Set<string>();
  const reached = (id: string): void => {
    if (seen.has(id)) return;
    seen.add(id);
    appendFileSync(file, `${id}\n`);
  };
  Object.assign(globalThis, { [reachedFunction]: reached });
}
