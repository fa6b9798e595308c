import { numberOf } from 'computation-management-formats/identifiers';
import type { Page } from './check-pages.ts';
import type { ChainedEvent } from './statement.ts';

/** A page of which each entry has the form of an event. */
interface PageOfEvents extends Page {
  events: ChainedEvent[];
}

/** Pages as they follow each other, with all their events oldest first. */
export interface Journal {
  pages: PageOfEvents[];
  events: ChainedEvent[];
  isNewestFirst: boolean;
}

/**
 * Puts pages that were given in any order into that of the journal, by the numbers of their first events. It does not matter what is
 * put where: the chain is checked afterwards.
 */
export function inOrder(given: PageOfEvents[]): Journal {
  const isNewestFirst = areNewestFirst(given.flatMap(({ events }) => events));
  const oldestFirst = isNewestFirst
    ? given.map((page) => ({ ...page, events: page.events.toReversed() })).toReversed()
    : [...given];
  const pages = oldestFirst.sort(({ events: [one] }, { events: [other] }) => numberIn(one) - numberIn(other));
  const events = pages.flatMap((page) => page.events);
  return { pages: isNewestFirst ? pages.toReversed() : pages, events, isNewestFirst };
}

/** Only adjacent events of one chain are compared, so the order of the list shows in which direction most of them fit. */
function areNewestFirst(events: ChainedEvent[]): boolean {
  const fitting = (list: ChainedEvent[]) =>
    list.filter((event, index) => index > 0 && event.previous_hash === list[index - 1]?.hash).length;
  return fitting(events.toReversed()) > fitting(events);
}

const numberIn = (event: ChainedEvent | undefined) => (event && numberOf(event.id)) ?? 0;
