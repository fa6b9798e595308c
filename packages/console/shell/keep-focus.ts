import { focusOn } from './focus-on.ts';
import { focusTitle } from './focus-title.ts';
import { isFocusLost, isInDialog } from './present-focus.ts';

interface Focused {
  element: Element;
  /** The headings above it, from the title of the screen to the nearest one. */
  headings: HTMLElement[];
}

/**
 * Keeps the keyboard's place when the element that has the focus goes, such as a button with what it has changed. The nearest heading above
 * it that is left takes the focus, or the title of the screen. A user who is elsewhere meanwhile, such as in a dialog, stays there.
 * @returns a function that ends it
 */
export function keepFocus(): () => void {
  /** Outside of dialogs. A dialog gives the focus back to what had it before. */
  let latest: Focused | undefined;
  const note = ({ target }: FocusEvent) => {
    if (!(target instanceof Element) || isInDialog(target)) return;
    const headings = [...document.querySelectorAll<HTMLElement>('main :is(h1, h2, h3)')];
    latest = { element: target, headings: headings.filter((heading) => isAbove(heading, target)) };
  };
  // Removing an element also takes the focus from it, before it is gone. A click beside it leaves it where it is.
  const noteLeft = () =>
    queueMicrotask(() => {
      if (latest?.element.isConnected && isFocusLost()) latest = undefined;
    });
  const observer = new MutationObserver(() => {
    if (!latest || latest.element.isConnected || !isFocusLost()) return;
    const heading = latest.headings.findLast(({ isConnected }) => isConnected);
    if (heading) focusOn(heading);
    else focusTitle();
  });
  document.addEventListener('focusin', note);
  document.addEventListener('focusout', noteLeft);
  observer.observe(document.body, { childList: true, subtree: true });
  return () => {
    document.removeEventListener('focusin', note);
    document.removeEventListener('focusout', noteLeft);
    observer.disconnect();
  };
}

function isAbove(heading: Element, element: Element): boolean {
  return (heading.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0;
}
