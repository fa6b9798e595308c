import { randomUUID } from 'node:crypto';
import { canonicalJson } from 'computation-management-formats/canonical-json';
import { hashOfEvent } from 'computation-management-formats/digests';
import type { Event } from '../../../shared/events/event.ts';
import { filesOf, type Genuine } from './genuine-evidence.ts';

export type Files = ReturnType<typeof filesOf>;

export interface Tampering {
  kind: string;
  /** What was changed, for a report of one that was not found. */
  what: string;
  files: Files;
  /** The files before. */
  genuine: Files;
  /** What a finding must say. */
  named: RegExp;
}

type Random = () => number;
type Tamper = (genuine: Genuine, random: Random) => Omit<Tampering, 'kind' | 'genuine'>;

const bySignature = /signature does not fit the statement|is not among the given keys/;
const unreadable = /^The (?:evidence|file of events) (?:is not JSON|has )/;
const disorder = /(?:is|are) missing|out of order|does not follow|comes before/;

/** The ways to tamper with evidence. Each changes what the files mean: other white space or another order of members does not. */
const kinds: Record<string, Tamper> = {
  'a value of the statement': (genuine, random) => {
    const { changed: statement, what } = changedSomewhere(genuine.statement, random);
    return { what, files: filesOf({ ...genuine, statement }), named: bySignature };
  },
  'a byte of the statement': (genuine, random) => {
    const files = filesOf(genuine);
    const { text, what } = withOtherByte(files.evidence, random);
    return {
      what,
      files: { ...files, evidence: text },
      named: new RegExp(`${bySignature.source}|${unreadable.source}|nobody has signed`),
    };
  },
  'the signature': (genuine, random) => {
    const { text: signature, what } = withOtherCharacter(genuine.signature, random);
    return { what, files: filesOf({ ...genuine, signature }), named: bySignature };
  },
  'the name of the key': (genuine, random) => {
    const { text: key_id, what } = withOtherCharacter(genuine.key_id, random);
    return { what, files: filesOf({ ...genuine, key_id }), named: bySignature };
  },
  'an event': (genuine, random) => {
    const { index, event } = anyEvent(genuine, random);
    const { changed, what } = changedSomewhere(event, random);
    const place = genuine.events.length - index;
    return {
      what: `event ${index}: ${what}`,
      files: withEvents(genuine, genuine.events.with(index, changed)),
      named: new RegExp(`${event.id}|${escaped(changed.id)}|at place ${place} `),
    };
  },
  'an event, with its hash made to fit': (genuine, random) => {
    const { index, event } = anEventUntilTheEnd(genuine, random);
    const changed = forged({ ...event, status: `${event.status}x` });
    return {
      what: `event ${index}`,
      files: withEvents(genuine, genuine.events.with(index, changed)),
      named: new RegExp(event.id),
    };
  },
  'an event, with all later hashes made to fit': (genuine, random) => {
    const { index, event } = anEventUntilTheEnd(genuine, random);
    const changed = rechained(genuine.events.with(index, { ...event, details: 'eyJmb3JnZWQiOnRydWV9' }), index);
    const { last } = genuine.statement['events'] as { last: Event };
    return {
      what: `event ${index}`,
      files: withEvents(genuine, changed),
      named: new RegExp(`${last.id}|${genuine.events.at(-1)?.id ?? ''}`),
    };
  },
  'a byte of the events': (genuine, random) => {
    const files = filesOf({ ...genuine, isPage: false }); // nobody vouches for the counts of a page
    const { text, what } = withOtherByte(files.events[0] ?? '', random);
    return { what, files: { ...files, events: [text] }, named: /./ };
  },
  'an event dropped': (genuine, random) => {
    const { index } = anyEvent(genuine, random);
    return { what: `event ${index}`, files: withEvents(genuine, genuine.events.toSpliced(index, 1)), named: disorder };
  },
  'an event dropped, with all later hashes made to fit': (genuine, random) => {
    const index = whole(random, genuine.events.length - 1);
    const events = rechained(genuine.events.toSpliced(index, 1), index);
    return { what: `event ${index}`, files: withEvents(genuine, events), named: disorder };
  },
  'the oldest events dropped, with the count made to fit': (genuine, random) => {
    const count = 1 + whole(random, genuine.events.length - 1);
    const events = genuine.events.slice(count);
    return { what: `${count} events`, files: filesOf({ ...genuine, events }), named: disorder };
  },
  'two events exchanged': (genuine, random) => {
    const { index: one, event } = anyEvent(genuine, random);
    const other = (one + 1 + whole(random, genuine.events.length - 1)) % genuine.events.length;
    const swapped = genuine.events.with(one, genuine.events[other] ?? event).with(other, event);
    return { what: `events ${one} and ${other}`, files: withEvents(genuine, swapped), named: disorder };
  },
  'an event added': (genuine, random) => {
    const place = whole(random, genuine.events.length + 1);
    const previous_hash = genuine.events[place - 1]?.hash ?? '';
    const { event } = anyEvent(genuine, random);
    const added = forged({ ...event, id: randomUUID(), previous_hash });
    return {
      what: `before event ${place}`,
      files: withEvents(genuine, genuine.events.toSpliced(place, 0, added)),
      named: new RegExp(added.id),
    };
  },
  'an event repeated': (genuine, random) => {
    const { event } = anyEvent(genuine, random);
    const place = whole(random, genuine.events.length + 1);
    return {
      what: `before event ${place}`,
      files: withEvents(genuine, genuine.events.toSpliced(place, 0, event)),
      named: disorder,
    };
  },
};

/** The events that a user may have: of the run, of the journal up to the end of the run, or a page with the whole journal. */
const scopes: Record<string, (genuine: Genuine) => Genuine> = {
  run: (genuine) => genuine,
  'journal until then': (genuine) => ({ ...genuine, events: [...genuine.before, ...genuine.events] }),
  journal: (genuine) => ({ ...genuine, events: [...genuine.before, ...genuine.events, ...genuine.after], isPage: true }),
};

/** Returns the files of genuine evidence, with the events that a user may have. */
export function genuineFiles(genuine: Genuine): Files[] {
  return Object.values(scopes).map((scope) => filesOf(scope(genuine)));
}

/** Tampers with the evidence in a random way. */
export function tamper(genuine: Genuine, random: Random): Tampering {
  const kind = pick(Object.keys(kinds), random);
  const scope = pick(Object.keys(scopes), random);
  const inScope = scopes[scope]?.(genuine) ?? genuine;
  const tampered = kinds[kind]?.(inScope, random);
  if (!tampered) throw new TypeError(`There is no kind ${kind}.`);
  return { kind, ...tampered, genuine: filesOf(inScope), what: `${tampered.what} (events: ${scope})` };
}

type Node = Record<string, unknown> | unknown[];

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Changes a value, removes, adds, repeats or exchanges members somewhere inside. */
function changedSomewhere<T extends object>(root: T, random: Random): { changed: T; what: string } {
  const before = canonicalJson(root);
  for (;;) {
    const changed = structuredClone(root);
    const what = changeIn(changed as Node, random);
    if (canonicalJson(changed) !== before) return { changed, what };
  }
}

function changeIn(node: Node, random: Random): string {
  const names = Object.keys(node);
  if (names.length === 0 || random() < 0.03) return addTo(node, random);
  const name = pick(names, random);
  const inner = (node as Record<string, unknown>)[name];
  if (isNode(inner) && random() < 0.9) return `${name}/${changeIn(inner, random)}`;
  if (random() < 0.15) {
    if (Array.isArray(node)) node.splice(Number(name), 1);
    else Reflect.deleteProperty(node, name);
    return `${name} removed`;
  }
  if (Array.isArray(node) && random() < 0.3) {
    const other = pick(names, random);
    [node[Number(name)], node[Number(other)]] = [node[Number(other)], node[Number(name)]];
    return `${name} and ${other} exchanged`;
  }
  (node as Record<string, unknown>)[name] = otherThan(inner, random);
  return `${name} changed`;
}

function addTo(node: Node, random: Random): string {
  if (Array.isArray(node)) node.splice(whole(random, node.length + 1), 0, structuredClone(node[0] ?? 'added'));
  else
    Object.defineProperty(node, pick(addedNames, random), {
      value: 1,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  return 'a member added';
}

/** Names that careless code skips are among them. */
const addedNames = ['added', 'constructor', '__proto__', 'toString', ''];

function otherThan(value: unknown, random: Random): unknown {
  if (typeof value === 'string' && value !== '' && random() < 0.8) return withOtherCharacter(value, random).text;
  if (typeof value === 'number' && random() < 0.8) return value + 1;
  if (typeof value === 'boolean') return !value;
  return pick(['', 'other', 0, 17, true, null, [], {}], random);
}

const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .:é';

function withOtherCharacter(text: string, random: Random): { text: string; what: string } {
  const place = whole(random, text.length);
  const other = pick(characters.replaceAll(text[place] ?? '', ''), random);
  return { text: text.slice(0, place) + other + text.slice(place + 1), what: `character ${place} is ${JSON.stringify(other)}` };
}

/** Changes a byte of a JSON text so that the text is no longer JSON or has another value. */
function withOtherByte(text: string, random: Random): { text: string; what: string } {
  const before = canonicalJson(JSON.parse(text) as object);
  for (;;) {
    const bytes = Buffer.from(text);
    const place = whole(random, bytes.length);
    const byte = whole(random, 256);
    bytes[place] = byte;
    const changed = bytes.toString();
    if (changed === text || canonicalOf(changed) === before) continue;
    return { text: changed, what: `byte ${place} is ${byte}` };
  }
}

function canonicalOf(text: string): string | undefined {
  try {
    return canonicalJson({ value: JSON.parse(text) as unknown }).slice('{"value":'.length, -1);
  } catch {
    return undefined;
  }
}

/** A page keeps its count. */
function withEvents(genuine: Genuine, events: Event[]): Files {
  return filesOf({ ...genuine, events }, genuine.events.length);
}

function anyEvent({ events }: Genuine, random: Random): { index: number; event: Event } {
  const index = whole(random, events.length);
  const event = events[index];
  if (!event) throw new TypeError('There are no events.');
  return { index, event };
}

/** Nothing commits to the events after the end of the run: who changes the hash as well is not noticed. */
function anEventUntilTheEnd(genuine: Genuine, random: Random): { index: number; event: Event } {
  const { last } = genuine.statement['events'] as { last: Event };
  const end = genuine.events.findIndex(({ id }) => id === last.id);
  return anyEvent({ ...genuine, events: genuine.events.slice(0, end + 1) }, random);
}

/** Gives an event the hash of its content, as anybody can. */
function forged(event: Event): Event {
  return { ...event, hash: hashOfEvent(event) };
}

function rechained(events: Event[], from: number): Event[] {
  const chained = [...events];
  for (let index = from; index < chained.length; index++) {
    const event = chained[index];
    if (event) chained[index] = forged({ ...event, previous_hash: chained[index - 1]?.hash ?? event.previous_hash });
  }
  return chained;
}

function whole(random: Random, below: number): number {
  return Math.floor(random() * below);
}

/** @param values at least one */
function pick<T>(values: ArrayLike<T>, random: Random): T {
  return values[whole(random, values.length)] as T;
}

const escaped = (text: unknown) => String(text).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
