/** How many events a timeline shows at first: the latest. */
export const mostShown = 200;

/** Returns the events of a timeline that are shown, and how many earlier ones are not. */
export function shownEvents<Event>(events: readonly Event[], showsAll: boolean): { shown: readonly Event[]; hidden: number } {
  const hidden = showsAll ? 0 : events.length - mostShown;
  return hidden > 0 ? { shown: events.slice(hidden), hidden } : { shown: events, hidden: 0 };
}
