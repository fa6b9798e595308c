import { useEffect } from 'react';
import { holdWork } from './unsaved-work.ts';

/** While a form has what is not saved, an expired sign-in does not take it away. */
export function useUnsavedWork(isDirty: boolean): void {
  useEffect(() => (isDirty ? holdWork('form') : undefined), [isDirty]);
}
