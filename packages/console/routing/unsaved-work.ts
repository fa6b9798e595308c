import { useEffect } from 'react';

/**
 * The work that an expired sign-in does not interrupt: what is typed in a form, an upload that is under way, and something that is only
 * open, such as a dialog. The user is asked before leaving the first two.
 */
type Work = 'form' | 'upload' | 'open';

type Ask = (question: string) => boolean;

const held = new Set<{ work: Work }>();

/** Records that there is unsaved work. @returns a function that records its end */
export function holdWork(work: Work): () => void {
  const entry = { work };
  held.add(entry);
  return () => void held.delete(entry);
}

/** Returns whether there is unsaved work, of these kinds or of any. */
export function hasWork(...wanted: Work[]): boolean {
  return [...held].some(({ work }) => wanted.length === 0 || wanted.includes(work));
}

/** Forgets all work after the user agreed to lose it, so that the browser does not ask again when the page is left. */
export function abandonWork(): void {
  held.clear();
}

/** Returns whether the user may cancel the upload that is under way. Asks if there is one. */
export function mayEndUpload(ask: Ask): boolean {
  return !hasWork('upload') || ask('A file is being uploaded. Leaving this page cancels the upload. Leave it?');
}

/** Returns whether the user may leave the page. Asks, once, if that ends an upload or loses what is typed in a form. */
export function mayLeave(ask: Ask): boolean {
  if (hasWork('upload')) return mayEndUpload(ask);
  return !hasWork('form') || ask('What you have entered here is not saved. Leave this page without saving it?');
}

/** Returns whether the user may go to another path. Asks as `mayLeave` does. */
export function mayGo(from: string, to: string, ask: Ask): boolean {
  return from === to || mayLeave(ask);
}

/** Records unsaved work while the component is shown. Undefined: there is none. */
export function useUnsavedWork(work: Work | undefined): void {
  useEffect(() => (work === undefined ? undefined : holdWork(work)), [work]);
}
