import { type RefObject, useLayoutEffect, useRef } from 'react';
import { focusOn } from './focus-on.ts';
import { focusTitle } from './focus-title.ts';
import { isFocusLost } from './present-focus.ts';

/**
 * Keeps the keyboard's place in a panel with buttons that go with what they have changed. If the focus is lost with one, the heading of
 * the panel takes it. If the panel goes too, the title of the screen does. A user who is elsewhere meanwhile, such as in a dialog, stays
 * there.
 * @returns for an element around the panel
 */
export function useKeptFocus(): RefObject<HTMLDivElement | null> {
  const panel = useRef<HTMLDivElement>(null);
  const latest = useRef<EventTarget>(null);
  useLayoutEffect(() => {
    const element = panel.current;
    const note = ({ target }: FocusEvent) => {
      latest.current = target;
    };
    element?.addEventListener('focusin', note);
    return () => {
      element?.removeEventListener('focusin', note);
      if (element?.contains(document.activeElement) === true) focusTitle();
    };
  }, []);
  useLayoutEffect(() => {
    const isGone = latest.current instanceof Element && !latest.current.isConnected;
    if (isGone && isFocusLost()) focusOn(panel.current?.querySelector<HTMLElement>('h2'));
  });
  return panel;
}
