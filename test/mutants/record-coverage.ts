import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join, relative } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, expect } from 'vitest';
import { type Coverage, isMutated, root } from './covered.ts';

/** Writes which parts of the mutated sources each file of tests has run, by the counters of V8, which are those of the process. */
const shared = globalThis as { sessionOfCoverage?: Session };
const session = (shared.sessionOfCoverage ??= connected());
session.post('Profiler.takePreciseCoverage'); // which sets the counters to 0
const startedAt = performance.now();
let hasFailed = false;
afterEach(({ task }) => void (hasFailed ||= task.result?.state === 'fail'));
afterAll(() => {
  const test = relative(root, expect.getState().testPath ?? '');
  const coverage: Coverage = { test, seconds: (performance.now() - startedAt) / 1_000, files: {} };
  session.post('Profiler.takePreciseCoverage', (_, { result }) => {
    for (const { url, functions } of result) {
      const file = relative(root, url.startsWith('file:') ? fileURLToPath(url.replace(/\?.*/, '')) : '/');
      if (!isMutated(file)) continue;
      const ran = new Uint8Array(readFileSync(join(root, file), 'utf8').length + 1);
      for (const { ranges } of functions) {
        // A module runs once in a process, whichever file of tests imports it first.
        if (ranges[0]?.startOffset === 0) continue;
        for (const { startOffset, endOffset, count } of ranges) ran.fill(Math.min(count, 1), startOffset, endOffset);
      }
      const places = [...ran.keys()].filter((at) => ran[at] !== (ran[at - 1] ?? 0));
      if (places.length > 0) coverage.files[file] = places;
    }
  });
  const folder = join(root, 'node_modules/.covered');
  mkdirSync(folder, { recursive: true });
  if (!hasFailed) writeFileSync(join(folder, test.replaceAll('/', ' ')), JSON.stringify(coverage));
});

function connected(): Session {
  const made = new Session();
  made.connect();
  made.post('Profiler.enable');
  made.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return made;
}
