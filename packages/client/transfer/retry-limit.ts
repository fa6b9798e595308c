const fewestFailures = 5;
const leastTimeInMilliseconds = 5 * 60_000;
const longestPauseInMilliseconds = 30_000;

/** Limits how often the steps of a transfer are repeated: until five failures in a row, and five minutes, have brought no progress. */
export function retryLimit({ firstPauseInMilliseconds = 500 }: { firstPauseInMilliseconds?: number } = {}) {
  let [failures, failingSince] = [0, 0];
  return {
    /** Forgets the failures so far. */
    reset: () => {
      failures = 0;
    },
    /** The number of failures in a row without progress. */
    failures: () => failures,
    /**
     * Counts a failure. The first pause is that of the options, and each further one is twice as long, up to 30 seconds.
     * @returns the pause before the next attempt in milliseconds, or undefined to give up
     */
    pauseAfterFailure: (): number | undefined => {
      failures++;
      if (failures === 1) failingSince = Date.now();
      if (failures >= fewestFailures && Date.now() - failingSince >= leastTimeInMilliseconds) return undefined;
      return Math.min(firstPauseInMilliseconds * 2 ** (failures - 1), longestPauseInMilliseconds);
    },
  };
}
