import { fromBase64 } from 'computation-management-formats/bytes';
import { canonicalJson, hashOfEvent } from 'computation-management-formats/digests';
import { numberOf } from 'computation-management-formats/identifiers';
import { timeOf } from 'computation-management-formats/timestamps';
import { finalStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { checkApprovalsInJournal, checkHeads, showsDecisions } from './check-approvals.ts';
import { checkReleases } from './check-releases.ts';
import { repeatedName } from './evidence-files.ts';
import { check, fails, holds, note, quoted, type Finding, unchecked } from './finding.ts';
import { chainedEvent, detailsOf, isBeginning, nameOf, type ChainedEvent, type Statement, unknownMembers } from './statement.ts';

/** A page of a computation's journal as the API returns it, or a list of events without the members that count them. */
export interface Page<Event = unknown> {
  events: Event[];
  limit?: unknown;
  offset?: unknown;
  total?: unknown;
}

/** Checks that events in a statement have the hash of their content, and that their details have each name once. */
export function checkOwnEvents(events: ChainedEvent[]): Finding[] {
  const hashes = events.map((event) => {
    const what = `The event ${nameOf(event)} in the statement`;
    return check(
      hasOwnHash(event),
      `${what} has the hash of its content, ${quoted(event.hash)}.`,
      `${what} was changed: its hash is not that of its content.`,
    );
  });
  return [...hashes, ...events.flatMap(saidTwice)];
}

/**
 * Finds a name that has two values in the details of an event that the service wrote: different readers could see different
 * values.
 */
function saidTwice(event: ChainedEvent): Finding[] {
  if (Object.keys(detailsOf(event)).length === 0) return [];
  const name = repeatedName(new TextDecoder().decode(fromBase64(event.details)));
  return name === undefined ? [] : [fails(`The details of the event ${nameOf(event)} have two values named ${quoted(name)}.`)];
}

/**
 * Checks that the given events of a computation's journal are unchanged, and that from the run's first event to its last none is
 * missing, added or out of order. The hash of each event covers the hash of the event before it, so the last event commits to all
 * events before it.
 * @param given pages of events that are newest first, as the API lists events, or oldest first
 */
export function checkJournal(statement: Statement, given: Page[]): Finding[] {
  const all = given.flatMap((page) => page.events);
  const malformed = all.findIndex((event) => {
    const { success, output } = v.safeParse(chainedEvent, event);
    return !success || unknownMembers(event, output).length > 0;
  });
  if (malformed >= 0) return [fails(`The event at place ${malformed + 1} does not have the form of an event.`)];
  const { started, last } = statement.events;
  const { pages, events, isNewestFirst } = inOrder(given as Page<ChainedEvent>[]);
  const problems = [
    ...checkCounts(pages, isNewestFirst),
    ...events.flatMap((event) =>
      hasOwnHash(event) ? [] : [fails(`The event ${nameOf(event)} was changed: its hash is not that of its content.`)],
    ),
    ...events.flatMap((event) => (event.run_id === '' ? saidTwice(event) : [])), // an agent writes those of its run as it likes
    ...events.flatMap((event, index) => checkLink(event, events[index - 1], events)),
    ...events.flatMap((event, index) => checkTime(event, events[index - 1])),
    ...events.flatMap((event) => checkOfRun(statement, event)),
  ];
  const first = events.findIndex((event) => isSame(event, started));
  const end = events.findIndex((event) => isSame(event, last));
  if (first < 0) problems.push(fails(`The event ${nameOf(started)}, with which the run began, is missing or was changed.`));
  if (end < 0) problems.push(fails(`The event ${nameOf(last)}, with which the run ended, is missing or was changed.`));
  if (first >= 0 && end >= 0 && end <= first)
    problems.push(fails('The event with which the run ended comes before the one with which it began.'));
  const count = end - first + 1;
  const before = events.slice(0, Math.max(0, first));
  // What a CVM reports after the end of its run changes nothing.
  const untilEnd = end < 0 ? events : events.slice(0, end + 1);
  return [
    ...(problems.length === 0
      ? [holds(`The ${count} events from the beginning of the run to its end are complete, unchanged and in order.`)]
      : problems),
    ...checkBeginning(statement, { events, pages, isNewestFirst }, before),
    ...checkApprovalsInJournal(statement, before),
    ...checkHeads(statement, before),
    ...(first >= 0 && end >= 0 ? checkReleases(statement, events, [first, end]) : []),
    ...notCovered(events, end),
    ...otherAttestations(statement, untilEnd),
    ...checkConnection(statement, untilEnd),
  ];
}

/**
 * Finds attestation tokens that the CVM reported for the run besides those that counted at its end. With an attestation policy, only a
 * run that failed may have one: every token must satisfy the policy.
 */
function otherAttestations({ run, attestation, configuration }: Statement, events: ChainedEvent[]): Finding[] {
  const say = configuration.attestation_policy !== null && run.status !== 'failed' ? fails : note;
  return events.flatMap((event) => {
    if (event.event_type !== 'Attestation' || event.run_id !== run.id) return []; // defence
    const hash = detailsOf(event)['attestation_hash'];
    if (typeof hash !== 'string' || attestation?.tokens.some((token) => token.hash === hash)) return [];
    const other = 'another attestation token for this run than those of the statement';
    return [say(`The CVM reported ${other}, with the SHA-256 ${quoted(hash)}: ${nameOf(event)}.`)];
  });
}

/**
 * Finds that the agent of the CVM connected again while the run went on: nothing proves that the same machine continued. Only a policy
 * with `allow_reconnect` allows it.
 */
function checkConnection({ run, configuration: { attestation_policy: policy } }: Statement, events: ChainedEvent[]): Finding[] {
  if (policy === null) return [];
  const again = events.filter(({ event_type, run_id }) => event_type === 'Reconnected' && run_id === run.id);
  const say = policy.allow_reconnect || run.status === 'failed' ? note : fails;
  return again.map((event) =>
    say(`The agent of the CVM connected again during the run, ${nameOf(event)}: nothing proves that the same machine went on.`),
  );
}

function checkLink(event: ChainedEvent, before: ChainedEvent | undefined, all: ChainedEvent[]): Finding[] {
  if (!before || event.previous_hash === before.hash) return []; // defence
  const isElsewhere = all.some((other) => other.hash === event.previous_hash);
  const [one, other] = [`The event ${nameOf(event)}`, `the event ${nameOf(before)}`];
  if (isElsewhere) return [fails(`${one} is out of order, or ${other} before it was added.`)];
  const causes = 'an event between them is missing, or one of them was added or changed';
  return [fails(`${one} does not follow ${other}: ${causes}.`)];
}

function checkTime(event: ChainedEvent, before: ChainedEvent | undefined): Finding[] {
  if (!before || event.previous_hash !== before.hash || timeOf(event.timestamp) >= timeOf(before.timestamp)) return [];
  return [fails(`The event ${nameOf(event)} has an earlier time than the event ${nameOf(before)} before it.`)];
}

/**
 * Checks that an event of the run is from the run's CVM, and that the run has no other beginning or end than the statement says:
 * only the service writes these events.
 */
function checkOfRun({ run, events: { started, last } }: Statement, event: ChainedEvent): Finding[] {
  if (event.run_id !== run.id) return [];
  if (event.cvm_id !== run.cvm_id) return [fails(`The event ${nameOf(event)} of the run is from another CVM.`)];
  if (!['started', ...finalStatuses].includes(event.event_type) || [started, last].some(({ id }) => id === event.id)) return [];
  return [fails(`The run has another beginning or end: ${nameOf(event)}.`)];
}

function notCovered(events: ChainedEvent[], end: number): Finding[] {
  const later = end < 0 ? [] : events.slice(end + 1);
  if (later.length === 0) return [];
  const counted = later.length === 1 ? 'one event' : `${later.length} events`;
  return [note(`The statement does not cover ${counted} after the end of the run: ${later.map(nameOf).join(', ')}.`)];
}

export const hasOwnHash = (event: ChainedEvent): boolean => hashOfEvent(event) === event.hash;

const isSame = (one: ChainedEvent, other: ChainedEvent): boolean => canonicalJson(one) === canonicalJson(other);

/**
 * Checks that pages of the journal have as many events as they say, if they are newest first. A page that was read with `after`
 * does not say how many events follow it.
 */
function checkCounts(pages: Page[], isNewestFirst: boolean): Finding[] {
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
 * Finds that events before the first given one are missing. Each journal begins with the event `created`, and the hash of each
 * later event covers the hash of the event before it.
 * @param before the given events before the run, oldest first
 */
function checkBeginning(statement: Statement, { events, pages, isNewestFirst }: Journal, before: ChainedEvent[]): Finding[] {
  const [first] = events;
  if (!first || isBeginning(first)) return []; // defence
  const say = showsDecisions(statement, before) ? note : unchecked;
  const sentence = `The events before ${nameOf(first)} are missing, so they were not checked`;
  if (!saysWhole(pages, isNewestFirst)) return [say(`${sentence}.`)];
  const reasons = 'the pages say that they reach the beginning of the journal, or the events were read with a filter';
  return [fails(`${sentence}, although ${reasons}.`)];
}

/** Returns whether the counts in the pages of a journal leave no room for events before the first given one. */
function saysWhole(pages: Page[], isNewestFirst: boolean): boolean {
  const last = pages.at(-1);
  if (!isCount(last?.total)) return false;
  const before = isNewestFirst ? last.offset : pages.reduce((sum, { events }) => sum + events.length, -last.events.length);
  return isCount(before) && before + last.events.length >= last.total;
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

/** The pages of a journal in order, with all their events oldest first. */
interface Journal {
  pages: Page<ChainedEvent>[];
  events: ChainedEvent[];
  isNewestFirst: boolean;
}

/**
 * Sorts pages that were given in any order as they are in the journal, by the numbers of their first events. A wrong order does
 * no harm: the chain of hashes is checked afterwards.
 */
function inOrder(given: Page<ChainedEvent>[]): Journal {
  const isNewestFirst = areNewestFirst(given.flatMap(({ events }) => events));
  const oldestFirst = isNewestFirst
    ? given.map((page) => ({ ...page, events: page.events.toReversed() })).toReversed()
    : [...given];
  const pages = oldestFirst.sort(({ events: [one] }, { events: [other] }) => numberIn(one) - numberIn(other));
  const events = pages.flatMap((page) => page.events);
  return { pages: isNewestFirst ? pages.toReversed() : pages, events, isNewestFirst };
}

/**
 * Returns whether events are sorted newest first: whether more adjacent events fit together by their hashes in that order than in
 * the other.
 */
function areNewestFirst(events: ChainedEvent[]): boolean {
  const fitting = (list: ChainedEvent[]) =>
    list.filter((event, index) => index > 0 && event.previous_hash === list[index - 1]?.hash).length;
  return fitting(events.toReversed()) > fitting(events);
}

const numberIn = (event: ChainedEvent | undefined) => (event && numberOf(event.id)) ?? 0;
