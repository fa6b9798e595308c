const fewestFailures = 5;
const patienceInMilliseconds = 300_000;
const longestPauseInMilliseconds = 30_000;

interface Options {
  /** The pause after the first failure. It doubles with each further one. Default 500. */
  firstPauseInMilliseconds?: number | undefined;
  now?: (() => number) | undefined;
}

/** Decides how often the steps of an upload are repeated: as cms does, until five minutes and five failures have brought nothing. */
export function patience({ firstPauseInMilliseconds = 500, now = Date.now }: Options = {}) {
  let [failures, failingSince] = [0, 0];
  return {
    /** Forgets the failures so far. */
    reset: () => {
      failures = 0;
    },
    /** Notes a failure. @returns the pause before the next attempt in milliseconds, or undefined to give up */
    pauseAfterFailure: (): number | undefined => {
      failures++;
      if (failures === 1) failingSince = now();
      if (failures >= fewestFailures && now() - failingSince >= patienceInMilliseconds) return undefined;
      return Math.min(firstPauseInMilliseconds * 2 ** (failures - 1), longestPauseInMilliseconds);
    },
  };
}
