import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import config from './vitest.base.config.ts';

/** The end-to-end suite, with the functions as they are deployed: bundled, with the variables that CDK gives them. */
export default defineConfig({
  test: {
    ...config.test,
    isolate: false, // one service for all files of a process
    maxWorkers: availableParallelism(), // .ci/run has the linter run beside them
    include: ['test/e2e/**/*.test.ts'],
    globalSetup: ['test/support/build-bundles.ts', 'test/support/scan-after-suite.ts'],
  },
});
