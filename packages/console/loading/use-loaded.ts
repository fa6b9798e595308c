import { useCallback, useEffect, useEffectEvent, useState } from 'react';

export type Loaded<Value> = ReturnType<typeof useLoaded<Value>>;

/**
 * Loads a value, and again whenever `key` changes. Never returns the value of an earlier key.
 * @param everySeconds the seconds after which the value is loaded again while the page is visible. Default: it is not loaded again by itself
 * @param round a number that loads the value again when it grows, such as the round of another value on which the value depends
 */
export function useLoaded<Value>(
  key: string,
  load: (signal: AbortSignal) => Promise<Value>,
  { everySeconds, round = 0 }: { everySeconds?: number | undefined; round?: number | undefined } = {},
) {
  const [reloads, setReloads] = useState(0);
  const attempt = reloads + round;
  const [outcome, setOutcome] = useState<{ key: string; attempt: number; value: Value | undefined; problem?: unknown }>();
  const reload = useCallback(() => setReloads((before) => before + 1), []);
  const begin = useEffectEvent(load);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const settle = (fields: { value?: Value; problem: unknown }) => {
      if (signal.aborted) return;
      setOutcome((before) => ({ key, attempt, value: before?.key === key ? before.value : undefined, ...fields }));
    };
    begin(signal).then(
      (value) => settle({ value, problem: undefined }),
      (problem: unknown) => settle({ problem }),
    );
    return () => controller.abort();
  }, [key, attempt]);

  const current = outcome?.key === key ? outcome : undefined;
  const isLoading = current?.attempt !== attempt;

  const loadAgain = useEffectEvent(() => {
    if (document.visibilityState === 'visible' && !isLoading) reload();
  });
  useEffect(() => {
    if (everySeconds === undefined) return undefined;
    const timer = setInterval(() => loadAgain(), everySeconds * 1_000);
    return () => clearInterval(timer);
  }, [everySeconds]);

  return {
    /** The loaded value. It stays while the value is loaded again. */
    value: current?.value,
    /** The error of the latest attempt to load the value. Undefined if the attempt succeeded. */
    problem: current?.problem,
    isLoading,
    /** The number of times that the value was loaded again. */
    round: current?.attempt ?? 0,
    reload,
  };
}

/** The seconds after which the data of each screen is loaded again while the page is visible. docs/cost.md says what the requests cost. */
export const refreshSeconds = {
  sideBar: 120,
  todo: 60,
  computations: 30,
  computation: 30,
  approve: 15,
  runs: 15,
  events: 15,
  assets: 30,
  cvms: 15,
  cvm: 10,
} as const;
