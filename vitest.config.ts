import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // For tests that call functions or parts of them; the one-machine stack sets all variables.
    env: { STAGE: 'test', LOG_LEVEL: 'SILENT', METRICS_NAMESPACE: '', MEMBERSHIP_CLAIM: 'cognito:groups' },
    // A process for each file, since the functions read their environment once; as many at a time as there are cores.
    pool: 'forks',
    maxWorkers: '100%',
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
