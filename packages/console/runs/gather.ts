/** Gathers entries that come one by one, to show them together. */
export interface Gather<Entry> {
  add: (entry: Entry) => void;
  /** Passes on what is gathered now. */
  flush: () => void;
}

const longestInMilliseconds = 100;

/** Passes entries on at most every 100 ms: a list that is shown is then copied and drawn once for many of them. */
export function gather<Entry>(passOn: (entries: Entry[]) => void): Gather<Entry> {
  let gathered: Entry[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length === 0) return;
    const entries = gathered;
    gathered = [];
    passOn(entries);
  };
  return {
    add: (entry) => {
      gathered.push(entry);
      timer ??= setTimeout(flush, longestInMilliseconds);
    },
    flush,
  };
}
