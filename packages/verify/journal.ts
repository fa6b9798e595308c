import { numberOf } from 'computation-management-formats/identifiers';
import { fails, type Finding, note } from './finding.ts';
import { type ChainedEvent, nameOf } from './statement.ts';

/** A page of the journal as the API returns it, or a list of events without the rest. */
export interface Page {
  events: unknown[];
  limit?: unknown;
  offset?: unknown;
  total?: unknown;
}

/**
 * Checks that pages have as many events as they say, if they are newest first: a page of `after` does not say how many events follow it.
 */
export function checkCounts(pages: Page[], isNewestFirst: boolean): Finding[] {
  if (!isNewestFirst) return [];
  return pages.flatMap(({ events: { length }, limit, offset, total }) => {
    if (!isCount(limit) || !isCount(offset) || !isCount(total)) return [];
    const expected = Math.max(0, Math.min(limit, total - offset));
    if (length === expected) return [];
    const what = `The page at offset ${offset} has ${length} events, but says that it has ${expected}`;
    return [fails(length < expected ? `${what}: an event is missing.` : `${what}: an event was added.`)];
  });
}

/**
 * Finds that events before the first given one are missing. Each journal begins with the event `created`, and the hash of each later
 * event covers that of the one before it.
 * @param events oldest first
 */
export function checkBeginning(events: ChainedEvent[], pages: Page[], isNewestFirst: boolean): Finding[] {
  const [first] = events;
  if (!first || isBeginning(first)) return [];
  const sentence = `The events before ${nameOf(first)} are missing, so they were not checked`;
  return [
    saysWhole(pages, isNewestFirst)
      ? fails(
          `${sentence}, although the pages say that they reach the beginning of the journal, or the events were read with a filter.`,
        )
      : note(`${sentence}.`),
  ];
}

/** Whether no event of the journal comes before this one. */
export function isBeginning({ event_type, previous_hash }: ChainedEvent): boolean {
  return event_type === 'created' && previous_hash === '';
}

/** Whether the counts in the pages leave no room for events before the first one. */
function saysWhole(pages: Page[], isNewestFirst: boolean): boolean {
  const last = pages.at(-1);
  if (!isCount(last?.total)) return false;
  const before = isNewestFirst ? last.offset : pages.reduce((sum, { events }) => sum + events.length, -last.events.length);
  return isCount(before) && before + last.events.length >= last.total;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

/** A page of which each entry has the form of an event. */
interface PageOfEvents extends Page {
  events: ChainedEvent[];
}

/** Pages as they follow each other, with all their events oldest first. */
interface Journal {
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
