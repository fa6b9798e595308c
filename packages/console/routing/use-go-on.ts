import { useCallback } from 'react';
import { useIsHere } from '../loading/use-is-here.ts';
import { go } from './navigation.ts';

/**
 * Returns a function that goes where a change of the user leads, once it is made. It asks nothing, because what was typed is saved. If the
 * user has left the component meanwhile, it goes nowhere.
 */
export function useGoOn(): typeof go {
  const isHere = useIsHere();
  return useCallback(
    (...given) => {
      if (isHere()) go(...given);
    },
    [isHere],
  );
}
