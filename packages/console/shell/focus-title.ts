import { focusOn } from './focus-on.ts';

/** Moves the focus to the title of the screen. */
export function focusTitle(): void {
  focusOn(document.querySelector<HTMLElement>('main h1'));
}
