import { useEffect } from 'react';

/**
 * The kinds of work that an expired sign-in does not interrupt: a form with typed text, an upload that is under way, and something that is
 * only open, such as a dialog. The user is asked before leaving a form or an upload.
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

/** Returns whether there is unsaved work, of the given kinds or, if none are given, of any kind. */
export function hasWork(...wanted: Work[]): boolean {
  return [...held].some(({ work }) => wanted.length === 0 || wanted.includes(work));
}

/** Forgets all unsaved work after the user agreed to lose it, so that the browser does not ask again when the page is left. */
export function abandonWork(): void {
  held.clear();
}

/** Returns whether the user may cancel the upload that is under way. Asks the user if there is an upload. */
export function mayEndUpload(ask: Ask): boolean {
  return !hasWork('upload') || ask('A file is being uploaded. Leaving this page cancels the upload. Leave it?');
}

/** Returns whether the user may leave the page. Asks the user, once, if leaving ends an upload or loses what is typed in a form. */
export function mayLeave(ask: Ask): boolean {
  if (hasWork('upload')) return mayEndUpload(ask);
  return !hasWork('form') || ask('What you have entered here is not saved. Leave this page without saving it?');
}

/**
 * Returns whether the user may go to another path of the console. Asks the user if that ends an upload or loses what is typed in a form.
 */
export function mayGo(from: string, to: string, ask: Ask): boolean {
  return from === to || mayLeave(ask);
}

/** Records unsaved work of a kind while the component is shown. Undefined: there is no unsaved work. */
export function useUnsavedWork(work: Work | undefined): void {
  useEffect(() => (work === undefined ? undefined : holdWork(work)), [work]);
}
