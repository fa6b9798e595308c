import { useState } from 'react';

export interface Action<Arguments extends unknown[]> {
  /** Returns whether it succeeded. */
  run: (...given: Arguments) => Promise<boolean>;
  isRunning: boolean;
  problem: unknown;
  forget: () => void;
}

/** A change that the user asks for: whether it is under way, and why it failed. */
export function useAction<Arguments extends unknown[]>(act: (...given: Arguments) => Promise<void>): Action<Arguments> {
  const [isRunning, setRunning] = useState(false);
  const [problem, setProblem] = useState<unknown>();
  return {
    run: async (...given) => {
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
