/** Moves the focus to a heading or another element that is only read: the keyboard and screen readers go on from there. */
export function focusOn(element: HTMLElement | null | undefined): void {
  if (!element) return;
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
