import { useEffect } from 'react';
import { holdWork, type Work } from './unsaved-work.ts';

/** Holds work while the component is shown. Undefined: there is none. */
export function useUnsavedWork(work: Work | undefined): void {
  useEffect(() => (work === undefined ? undefined : holdWork(work)), [work]);
}
