/**
 * What an expired sign-in does not take away: what is typed in a form, an upload that is under way, and what is merely open, such as a
 * dialog. Before the first two are left, the user is asked.
 */
export type Work = 'form' | 'upload' | 'open';

type Ask = (question: string) => boolean;

const held = new Set<{ work: Work }>();

/** Notes work that is not saved. @returns a function that ends it */
export function holdWork(work: Work): () => void {
  const entry = { work };
  held.add(entry);
  return () => void held.delete(entry);
}

/** Whether there is work that is not saved, of some kinds or of any. */
export function hasWork(...wanted: Work[]): boolean {
  return [...held].some(({ work }) => wanted.length === 0 || wanted.includes(work));
}

/** Notes that the user agreed to lose what is not saved: the browser does not ask as well when the page is left. */
export function abandonWork(): void {
  held.clear();
}

/** Returns whether an upload may end that is under way. Asks if there is one. */
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
