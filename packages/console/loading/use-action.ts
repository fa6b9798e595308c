import { newKey } from 'computation-management-client';
import { useState } from 'react';
import { useFrame } from '../access/console-context.ts';

export type Action<Arguments extends unknown[]> = ReturnType<typeof useAction<Arguments>>;

/** Wraps an action that the user asks for: tells whether the action is under way, and keeps the error if it failed. */
export function useAction<Arguments extends unknown[]>(act: (...given: Arguments) => Promise<void>) {
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  return {
    /** Runs the action with the given arguments. Returns whether the action succeeded. */
    run: async (...given: Arguments) => {
      setRunning(true);
      setProblem(undefined);
      try {
        await act(...given);
        return true;
      } catch (error) {
        setProblem(error);
        return false;
      } finally {
        setRunning(false);
      }
    },
    isRunning,
    problem,
    forget: () => setProblem(undefined),
  };
}

/** Wraps a change that the user asks for. Once the service has made it, the user is told so, and `goOn` is called. */
export function useChange(change: () => Promise<unknown>, notice: string, goOn: () => void): Action<[]> {
  const { notify } = useFrame();
  return useAction(async () => {
    await change();
    notify(notice);
    goOn();
  });
}

/**
 * Returns a function that gives each body of a form an `Idempotency-Key`: the same key while the body stays the same. If no answer came,
 * sending the form again then creates nothing twice.
 */
export function keysForBodies(): (body: unknown) => string {
  let latest: { text: string; key: string } | undefined;
  return (body) => {
    const text = JSON.stringify(body);
    if (latest?.text !== text) latest = { text, key: newKey() };
    return latest.key;
  };
}
