/** Runs the work as soon as the limit allows. */
export type RunLimited = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Runs at most `limit` tasks at the same time. The others wait, and start in the order of their arrival. */
export function limitConcurrency(limit: number): RunLimited {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < limit) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift(); // takes this one's place
      if (next) next();
      else running--;
    }
  };
}
