/**
 * Options for `vi.waitFor`: only the time limit of the test ends the wait. On a busy machine the fact may take long, and a
 * separate limit would fail a test that is about to pass.
 */
export const untilTestEnds = { timeout: 3_600_000, interval: 50 };
