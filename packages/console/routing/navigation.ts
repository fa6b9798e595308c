import { type MouseEvent, useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { addStep, returnToPlace } from './scroll-places.ts';
import { hasWork, mayGo } from './unsaved-work.ts';

const moved = new EventTarget();
let hasGoneOn = false;
/**
 * The address whose screen the console shows. After a step in the browser's history, it differs from the browser's address for a moment.
 */
let shown: string;

// The browser asks before the page is left or reloaded.
window.addEventListener('beforeunload', (event) => {
  if (hasWork('upload', 'form')) event.preventDefault();
});

/** Asks the user a question in a dialog of the browser. Returns whether the user agrees. */
export const ask = (question: string) => window.confirm(question);

/** Returns whether the user has gone to another address since the document was loaded. */
export function hasMoved(): boolean {
  return hasGoneOn;
}

// The browser opens a file in place of the page if it is dropped beside the field for it.
for (const type of ['dragover', 'drop'] as const) {
  window.addEventListener(type, (event) => {
    if (event.target instanceof HTMLInputElement || !event.dataTransfer?.types.includes('Files')) return;
    if (!event.defaultPrevented) event.dataTransfer.dropEffect = 'none';
    event.preventDefault();
  });
}

/** Goes to an address of the console, unless the user chooses to stay with unsaved work. */
export function navigate(address: string): void {
  const { pathname } = new URL(address, location.href);
  if (mayGo(location.pathname, pathname, ask)) go(address);
}

/**
 * Goes to an address of the console without asking about unsaved work.
 * @param replace true to replace the present step in the browser's history instead of adding one
 */
function go(address: string, { replace = false }: { replace?: boolean } = {}): void {
  const isSamePath = new URL(address, location.href).pathname === location.pathname;
  if (replace) history.replaceState(history.state, '', address);
  else addStep(address);
  hasGoneOn = true;
  if (!isSamePath) window.scrollTo(0, 0);
  show();
}

/** Replaces the present address, which has no screen, by one with a screen. `hasMoved` does not count the replacement. */
export function redirect(address: string): void {
  history.replaceState(history.state, '', address);
  show();
}

function show(): void {
  shown = location.href;
  moved.dispatchEvent(new Event('moved'));
}

/** Returns the present address of the console. The component is rendered again when the address changes. */
export function useAddress(): { pathname: string; query: URLSearchParams } {
  const href = useSyncExternalStore(subscribe, () => location.href);
  return useMemo(() => {
    const { pathname, searchParams } = new URL(href);
    return { pathname, query: searchParams };
  }, [href]);
}

function subscribe(onChange: () => void): () => void {
  shown = location.href;
  const onHistory = () => {
    if (!mayGo(new URL(shown).pathname, location.pathname, ask)) {
      addStep(shown);
      return;
    }
    shown = location.href;
    hasGoneOn = true;
    returnToPlace();
    onChange();
  };
  window.addEventListener('popstate', onHistory);
  moved.addEventListener('moved', onChange);
  return () => {
    window.removeEventListener('popstate', onHistory);
    moved.removeEventListener('moved', onChange);
  };
}

/** Handles a click on a link to the console without reloading the page. Leaves clicks for a new tab or a download to the browser. */
export function followLink(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const anchor = event.target instanceof Element ? event.target.closest('a') : null;
  if (!anchor || anchor.target === '_blank' || anchor.hasAttribute('download')) return;
  const url = new URL(anchor.href, location.href);
  if (url.origin !== location.origin || !url.pathname.startsWith('/console/')) return;
  event.preventDefault();
  navigate(`${url.pathname}${url.search}${url.hash}`);
}

/**
 * Returns a function that goes to an address after a change of the user is saved. The function does not ask about unsaved work, because
 * what was typed is saved. If the user has left the component meanwhile, it goes nowhere.
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

/** Returns a function that tells whether the component that called this hook is still shown. */
export function useIsHere(): () => boolean {
  const isHere = useRef(false);
  useEffect(() => {
    isHere.current = true;
    return () => {
      isHere.current = false;
    };
  }, []);
  return useCallback(() => isHere.current, []);
}
