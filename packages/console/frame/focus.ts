/**
 * Keeps the keyboard's place when the focused element is removed, such as a button by the change that it makes. The focus goes to the
 * nearest heading above the element that is left, or to the title of the screen. A user who is elsewhere meanwhile, such as in a dialog,
 * stays there.
 * @returns a function that ends the watch
 */
export function keepFocus(): () => void {
  /**
   * The element outside of dialogs that had the focus last, and the headings above it, from the title of the screen to the nearest. A
   * dialog gives the focus back to it by itself.
   */
  let latest: { element: Element; headings: HTMLElement[] } | undefined;
  const note = ({ target }: FocusEvent) => {
    if (!(target instanceof Element) || target.closest('[role=dialog]')) return;
    const headings = [...document.querySelectorAll<HTMLElement>('main :is(h1, h2, h3)')];
    const isAbove = (heading: Element) => heading.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING;
    latest = { element: target, headings: headings.filter(isAbove) };
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

/** Moves the focus to a heading or another element that is only read: the keyboard and screen readers go on from there. */
export function focusOn(element: HTMLElement | null | undefined): void {
  if (!element) return;
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}

/** Moves the focus to the title of the screen. */
export function focusTitle(): void {
  focusOn(document.querySelector<HTMLElement>('main h1'));
}

/** Returns whether no element has the focus, such as after the focused element was removed. An open dialog keeps the focus. */
export function isFocusLost(): boolean {
  return !isDialogOpen() && (document.activeElement ?? document.body) === document.body;
}

/** Returns whether the user is in a dialog or in the content of the screen, from where a title must not take the focus. */
export function isFocusTaken(): boolean {
  return isDialogOpen() || (document.activeElement?.closest('#content') ?? null) !== null;
}

function isDialogOpen(): boolean {
  return document.querySelector('[role=dialog]') !== null;
}
