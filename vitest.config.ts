import { defineConfig } from 'vitest/config';

/** Ends a test that hangs. It is far more than any test takes at a load of 10 on two cores. */
const testTimeout = 300_000;

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // For tests that call functions or parts of them; the one-machine stack sets all variables.
    env: { STAGE: 'test', LOG_LEVEL: 'SILENT', METRICS_NAMESPACE: '', MEMBERSHIP_CLAIM: 'cognito:groups' },
    // A process for each file, since the functions read their environment once; as many at a time as there are cores.
    pool: 'forks',
    maxWorkers: '100%',
    testTimeout,
    hookTimeout: testTimeout,
    // A poll waits on a fact for as long as its test may run.
    expect: { poll: { timeout: testTimeout, interval: 50 } },
  },
});
