/** Runs the work when its turn comes. */
export type TakeTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Runs at most `limit` tasks at the same time. The others wait, and start in the order of their arrival. */
export function takeTurns(limit: number): TakeTurn {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < limit) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // takes over this turn
      if (next) next();
      else running--;
    }
  };
}
