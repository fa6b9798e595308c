/** Moves the focus to the heading of a screen or a panel: the keyboard and screen readers go on from there. */
export function focusHeading(heading: HTMLElement | null | undefined): void {
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
}
