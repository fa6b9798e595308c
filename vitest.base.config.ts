import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { amount } from './test/support/amounts.ts';
import { longestWaitInMilliseconds } from './test/support/patience.ts';

/** Ends a test that hangs. It is far more than any test takes at a load of 10 on two cores, or in full. */
const testTimeout = amount({ sample: longestWaitInMilliseconds + 10_000, full: 3 * 3_600_000 });

/** The settings that all runs of tests share: those of `npm test` and of the bundles. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Node imports the sources itself, as it does in production, and keeps them compiled. Nothing here needs Vite to change them.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // For tests that call functions or parts of them; the one-machine stack sets all variables.
    env: {
      STAGE: 'test',
      LOG_LEVEL: 'SILENT',
      METRICS_NAMESPACE: '',
      MEMBERSHIP_CLAIM: 'cognito:groups',
      DOMAIN_CHANGES_PER_SECOND: '',
      DOMAIN_BURST: '',
    },
    // Three more processes than there are cores: a file uses less than half a core, because most wait for a service, an agent or a browser.
    // vitest.config.ts says which files share one.
    pool: 'forks',
    maxWorkers: availableParallelism() + 3,
    // Tests make much that is short-lived. With more room for it they take some 6 % less processor time, and a tenth less if the threads that
    // collect garbage need not share work: the other processes use the cores.
    execArgv: ['--max-semi-space-size=64', '--single-threaded-gc'],
    testTimeout,
    hookTimeout: testTimeout,
    // A poll ends shortly before its test, so that the assertion that failed is printed and not only the time limit.
    expect: { poll: { timeout: longestWaitInMilliseconds, interval: 50 } },
  },
});
