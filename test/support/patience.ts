/**
 * For `vi.waitFor` on a fact: the time limit of the test alone ends the wait. On a busy machine a fact may take long, and a
 * limit of its own would end a test that is about to pass.
 */
export const untilTestEnds = { timeout: 3_600_000, interval: 50 };
