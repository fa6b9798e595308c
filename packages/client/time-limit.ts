interface TimeLimit {
  /** Aborts when the time is over. */
  signal: AbortSignal;
  extendBy: (milliseconds: number) => void;
}

/** Limits the time of an exchange that may turn out to need more. */
export function timeLimit(milliseconds: number): TimeLimit {
  const ending = new AbortController();
  let endsAt = performance.now() + milliseconds;
  const wait = (rest: number) => {
    const timeout = AbortSignal.timeout(rest);
    const check = () => {
      const left = Math.ceil(endsAt - performance.now());
      if (left > 0) wait(left);
      else ending.abort(timeout.reason);
    };
    timeout.addEventListener('abort', check, { once: true });
  };
  wait(milliseconds);
  return {
    signal: ending.signal,
    extendBy: (more) => {
      endsAt += more;
    },
  };
}
