import { focusHeading } from './focus-heading.ts';

/** Moves the focus to the title of the screen. */
export function focusTitle(): void {
  focusHeading(document.querySelector<HTMLElement>('main h1'));
}
