import { newKey } from 'computation-management-client';

const places = new Map<unknown, number>();
let wanted: number | undefined;

// The rows of a list come after the screen. Until it is long enough, nothing that the browser does counts, only what the user does.
const restore = () => {
  if (wanted === undefined || document.documentElement.scrollHeight - window.innerHeight < wanted) return;
  window.scrollTo(0, wanted);
  wanted = undefined;
};
const stop = () => (wanted = undefined);
for (const input of ['wheel', 'touchstart', 'keydown', 'pointerdown']) window.addEventListener(input, stop, { passive: true });
window.addEventListener('scroll', () => wanted === undefined && places.set(stepOf(), window.scrollY), { passive: true });
new ResizeObserver(restore).observe(document.body);

/** Returns the name of the present step in the browser's history. Undefined for the first one. */
function stepOf(): unknown {
  return (history.state as { step?: string } | null)?.step;
}

/** Adds a step to the browser's history, at the present place of the screen. */
export function addStep(address: string): void {
  stop();
  history.pushState({ step: newKey() }, '', address);
  places.set(stepOf(), window.scrollY);
}

/** Scrolls to the place at which the user left the present step of the browser's history, as soon as the screen is long enough. */
export function returnToPlace(): void {
  wanted = places.get(stepOf()) ?? 0;
  requestAnimationFrame(restore); // the screen that is left is shown until then, and may be longer
}
