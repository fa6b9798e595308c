import { fromBase64 } from 'computation-management-formats/bytes';
import { canonicalJson, hashOfEvent } from 'computation-management-formats/digests';
import { timeOf } from 'computation-management-formats/timestamps';
import { finalStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { checkApprovalsInJournal } from './check-approvals.ts';
import { checkBeginning, checkCounts, inOrder, type Page } from './journal.ts';
import { check, fails, holds, note, quoted, type Finding } from './finding.ts';
import { repeatedName } from './read-json.ts';
import { chainedEvent, detailsOf, nameOf, type ChainedEvent, type Statement } from './statement.ts';

/** Checks the hashes of the two events in a statement, and that the first says each thing once. */
export function checkOwnEvents({ events }: Statement): Finding[] {
  const hashes = [events.started, events.last].map((event) => {
    const what = `The event ${nameOf(event)} in the statement`;
    return check(
      hasOwnHash(event),
      `${what} has the hash of its content.`,
      `${what} was changed: its hash is not that of its content.`,
    );
  });
  return [...hashes, ...saidTwice(events.started)];
}

/** Of two values in the details that the service wrote, one reader could see the one and another the other. */
function saidTwice(event: ChainedEvent): Finding[] {
  if (Object.keys(detailsOf(event)).length === 0) return [];
  const name = repeatedName(new TextDecoder().decode(fromBase64(event.details)));
  return name === undefined ? [] : [fails(`The details of the event ${nameOf(event)} have two values named ${quoted(name)}.`)];
}

/**
 * Checks that events of the journal are unchanged, and that from the run's first event to its last none is missing, added or out
 * of order. The hash of each event covers the hash of the one before it, so the last one commits to all before it.
 * @param given pages of events that are newest first, as the API lists events, or oldest first
 */
export function checkJournal(statement: Statement, given: Page[]): Finding[] {
  const malformed = given.flatMap((page) => page.events).findIndex((event) => !v.is(chainedEvent, event));
  if (malformed >= 0) return [fails(`The event at place ${malformed + 1} does not have the form of an event.`)];
  const { started, last } = statement.events;
  const { pages, events, isNewestFirst } = inOrder(given as (Page & { events: ChainedEvent[] })[]);
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
  return [
    ...(problems.length === 0
      ? [holds(`The ${count} events from the beginning of the run to its end are complete, unchanged and in order.`)]
      : problems),
    ...checkBeginning(events, pages, isNewestFirst),
    ...checkApprovalsInJournal(statement, events.slice(0, Math.max(0, first))),
    ...notCovered(events, end),
    ...otherAttestations(statement, events),
  ];
}

/** A process that attests itself late is given its run under the hash of the attestation before, perhaps of another process. */
function otherAttestations({ run, attestation_hash }: Statement, events: ChainedEvent[]): Finding[] {
  return events.flatMap((event) => {
    if (event.event_type !== 'Attestation' || event.run_id !== run.id) return [];
    const hash = detailsOf(event)['attestation_hash'];
    if (typeof hash !== 'string' || hash === attestation_hash) return [];
    return [
      note(
        `The CVM reported another attestation token for this run than that of the statement, with the SHA-256 ${quoted(hash)}: ${nameOf(event)}. Compare both.`,
      ),
    ];
  });
}

function checkLink(event: ChainedEvent, before: ChainedEvent | undefined, all: ChainedEvent[]): Finding[] {
  if (!before || event.previous_hash === before.hash) return [];
  const isElsewhere = all.some((other) => other.hash === event.previous_hash);
  return [
    fails(
      isElsewhere
        ? `The event ${nameOf(event)} is out of order, or the event ${nameOf(before)} before it was added.`
        : `The event ${nameOf(event)} does not follow the event ${nameOf(before)}: an event between them is missing, or one of them was added or changed.`,
    ),
  ];
}

function checkTime(event: ChainedEvent, before: ChainedEvent | undefined): Finding[] {
  if (!before || event.previous_hash !== before.hash || timeOf(event.timestamp) >= timeOf(before.timestamp)) return [];
  return [fails(`The event ${nameOf(event)} has an earlier time than the event ${nameOf(before)} before it.`)];
}

/** The service alone writes how a run begins and ends. */
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

function hasOwnHash(event: ChainedEvent): boolean {
  return hashOfEvent(event) === event.hash;
}

function isSame(one: ChainedEvent, other: ChainedEvent): boolean {
  return canonicalJson(one) === canonicalJson(other);
}
