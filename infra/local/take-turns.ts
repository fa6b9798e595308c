/** Runs the work once it is its turn. */
export type TakeTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Lets so much work run at the same time. The rest waits and begins in the order in which it came. */
export function takeTurns(atOnce: number): TakeTurn {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < atOnce) running++;
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
