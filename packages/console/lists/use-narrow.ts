import { useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(max-width: 688px)');

/** Whether the window is too narrow for tables of many columns. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => narrow.matches);
}

function subscribe(onChange: () => void): () => void {
  narrow.addEventListener('change', onChange);
  return () => narrow.removeEventListener('change', onChange);
}
