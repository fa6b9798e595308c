/** What the user would lose by leaving the page: what is typed in a form, or an upload that is under way. */
type Work = 'form' | 'upload';

const held = new Set<{ work: Work }>();

/** Notes work that is not saved. @returns a function that ends it */
export function holdWork(work: Work): () => void {
  const entry = { work };
  held.add(entry);
  return () => void held.delete(entry);
}

/** Whether there is work that is not saved, of one kind or of any. */
export function hasWork(wanted?: Work): boolean {
  return [...held].some(({ work }) => wanted === undefined || work === wanted);
}

/** Notes that the user agreed to lose what is not saved: the browser does not ask as well when the page is left. */
export function abandonWork(): void {
  held.clear();
}

/** Returns whether the user may leave the page. Asks if that ends an upload. */
export function mayLeave(ask: (question: string) => boolean): boolean {
  return !hasWork('upload') || ask('A file is being uploaded. Leaving this page cancels the upload. Leave it?');
}

/** Returns whether the user may go to another path. Asks if that ends an upload. */
export function mayGo(from: string, to: string, ask: (question: string) => boolean): boolean {
  return from === to || mayLeave(ask);
}
