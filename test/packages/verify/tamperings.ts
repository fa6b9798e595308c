import { randomUUID } from 'node:crypto';
import { canonicalDigest, canonicalJson, hashOfEvent } from 'computation-management-formats/digests';
import type { Event } from '../../../shared/journal/journal.ts';
import { shuffled } from '../../support/seeded-random.ts';
import { aToken, filesOf, type Genuine, genuineEvidence, newServiceKey, newSigner, type Start } from './genuine-evidence.ts';

export type Files = ReturnType<typeof filesOf>;

export interface Tampering {
  kind: string;
  /** The change, for a report of one that was not found. */
  what: string;
  files: Files;
  /** The files before. */
  genuine: Files;
  /** The text that a finding must have. */
  named: RegExp;
}

export type Random = () => number;
type Tamper = (genuine: Genuine, random: Random) => Omit<Tampering, 'kind' | 'genuine'>;

const byLog = /proofs? |the log |log does not|of the log/i;
const bySignature = /signature does not fit the statement|is not among the given keys/;
const unreadable = /^The (?:evidence|file of events) (?:is not JSON|has )/;
const byThumbprint = /^The key at place \d+ of the given keys is named .*, but its thumbprint is /;
const byName = /^The key at place \d+ of the given keys has the same name as another key: /;
const byForm = /^The key at place \d+ of the given keys does not have the form /;
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
      named: new RegExp(`${bySignature.source}|${unreadable.source}|nobody has signed|${byLog.source}`, byLog.flags),
    };
  },
  'the signature': (genuine, random) => {
    const { text: signature, what } = withOtherCharacter(genuine.signature, random);
    return { what, files: filesOf({ ...genuine, signature }), named: bySignature };
  },
  'the proofs of the log': (genuine, random) => {
    const { changed: log, what } = changedSomewhere(genuine.log, random);
    return { what, files: filesOf({ ...genuine, log }), named: byLog };
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

/** A service key of an attacker, and a key of a user who never approved. */
const attacker = newServiceKey();
const mallory = newSigner('mallory');

/** Evidence with a changed statement, which the attacker signed. */
function byAttacker(genuine: Genuine, random: Random, key_id: string) {
  const { changed: statement, what } = changedSomewhere(genuine.statement, random);
  return { what, evidence: { ...genuine, statement, key_id, signature: attacker.signed(statement) } };
}

const ownKey = ({ keys }: Genuine) => keys.keys.at(-1) as Record<string, unknown>;

/** The ways to tamper with the published keys. */
const kindsOfKeys: Record<string, Tamper> = {
  'the keys: all of another service': (genuine, random) => {
    const keys = { keys: [genuine.keys.keys[0] ?? {}, attacker.jwk].slice(whole(random, 2)) };
    return { what: `${keys.keys.length} keys`, files: filesOf({ ...genuine, keys }), named: /is not among the given keys/ };
  },
  "the keys: an attacker's under the genuine name": (genuine, random) => {
    const { what, evidence } = byAttacker(genuine, random, genuine.key_id);
    const keys = { keys: [{ ...attacker.jwk, kid: genuine.key_id }] };
    return { what, files: filesOf({ ...evidence, keys }), named: byThumbprint };
  },
  "the keys: the genuine one under an attacker's name": (genuine, random) => {
    const kid = pick(
      [attacker.jwk.kid, withOtherCharacter(genuine.key_id, random).text, '', genuine.key_id.toUpperCase()],
      random,
    );
    const keys = { keys: [{ ...ownKey(genuine), kid }] };
    const key_id = pick([genuine.key_id, kid], random);
    return { what: JSON.stringify({ kid, key_id }), files: filesOf({ ...genuine, key_id, keys }), named: byThumbprint };
  },
  'the keys: two under one name': (genuine, random) => {
    const { what, evidence } = byAttacker(genuine, random, pick([genuine.key_id, attacker.jwk.kid], random));
    const { kid } = pick([attacker.jwk, ownKey(genuine)], random);
    const both = [
      { ...attacker.jwk, kid },
      { ...ownKey(genuine), kid },
    ];
    const keys = { keys: random() < 0.5 ? both : both.reverse() };
    return { what, files: filesOf({ ...pick([genuine, evidence], random), keys }), named: byName };
  },
  'the keys: a member': (genuine, random) => {
    const key = { ...ownKey(genuine) };
    const name = pick(Object.keys(key), random);
    const how = pick(['absent', 'null', 'changed'], random);
    if (how === 'absent') Reflect.deleteProperty(key, name);
    else key[name] = how === 'null' ? null : withOtherCharacter(String(key[name]), random).text;
    const keys = { keys: [genuine.keys.keys[0] ?? {}, key] };
    const named = new RegExp(
      [byForm, byThumbprint, /file of keys has another form/, bySignature].map(({ source }) => source).join('|'),
    );
    return { what: `${name} ${how}`, files: filesOf({ ...genuine, keys }), named };
  },
};

interface Attested {
  verdict: string;
  checks: { name: string; passed: boolean }[];
  tokens: [Record<'verdict' | 'verified_at', string>];
}

/** The statements about a token that a service may make, otherwise than the token says. */
const misstatements: ((attestation: Attested, random: Random) => unknown)[] = [
  ({ tokens: [token] }, random) =>
    (token.verified_at = pick(['1999-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z', ''], random)),
  ({ tokens: [token] }) => (token.verdict = 'not judged'),
  (attestation, random) => (attestation.verdict = pick(['refused', 'unsupported'], random)),
  ({ tokens: [token] }, random) => (token.verdict = pick(['refused', 'unsupported'], random)),
  ({ checks }, random) => checks.splice(whole(random, checks.length), 1),
  ({ checks }, random) => (pick(checks, random).passed = false),
  ({ tokens }) => tokens.pop(),
];

const byAttestation =
  /^The token .* (?:is refused, not|is verified, (?:not|says the service, but names no certificate)|was verified at|has a (?:verdict|time))|^The stated (?:verdict|checks)/;

/** The ways to tamper with tokens, and the ways in which a service that signs misstates them. */
const kindsOfTokens: Record<string, Tamper> = {
  'a token: a byte': (genuine, random) => {
    const files = filesOf(genuine);
    const token = Buffer.from(files.tokens[0] ?? []);
    const place = whole(random, token.length);
    token[place] = (token[place] ?? 0) ^ (1 + whole(random, 255));
    return { what: `byte ${place}`, files: { ...files, tokens: [token] }, named: /^The given token .* is none of those/ };
  },
  'a token: one of another machine': (genuine) => {
    const files = filesOf(genuine);
    const { token } = aToken((report) => report.fill(0xcd, 0x90, 0xc0));
    return { what: 'another token', files: { ...files, tokens: [token] }, named: /^The given token .* is none of those/ };
  },
  'a token: misstated by the service': (genuine, random) => {
    const statement = structuredClone(genuine.statement);
    const misstated = whole(random, misstatements.length);
    misstatements[misstated]?.(statement['attestation'] as Attested, random);
    const signature = genuine.signed(statement);
    return { what: `misstatement ${misstated}`, files: filesOf({ ...genuine, statement, signature }), named: byAttestation };
  },
  'a token: all left out by the service': (genuine) => {
    const statement = { ...genuine.statement, attestation: null };
    const files = filesOf({ ...genuine, statement, signature: genuine.signed(statement) });
    return { what: 'no attestation', files, named: /policy, and no attestation is stated/ };
  },
};

/** The members that may be null (docs/contract.md, section 10). */
export const mayBeNull =
  /^(attestation|certificate|certificate_fingerprint|configuration\.(attestation_policy(\.(minimum_tcb(\.fmc)?|pcrs))?|result_review)|run\.(reason|reason_code)|assets\.\d\.key|approvals\.\d\.(cvm_ids|expires_at|signature|key|max_runs|use|approval_id|journal_head))$/;

/** Returns the path of every member of a statement, of its objects and of those in its lists. */
export function membersOf(value: unknown, path: string[] = []): string[] {
  if (!isNode(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const place = [...path, name];
    return [...(Array.isArray(value) ? [] : [place.join('.')]), ...membersOf(inner, place)];
  });
}

/** Removes a member of a statement, or makes it null. */
export function without(statement: object, path: string, how: 'absent' | 'null'): Record<string, unknown> {
  const changed = structuredClone(statement) as Record<string, unknown>;
  const [name = '', ...above] = path.split('.').reverse();
  const parent = above.reduceRight((node, each) => node[each] as Record<string, unknown>, changed);
  if (how === 'null') parent[name] = null;
  else Reflect.deleteProperty(parent, name);
  return changed;
}

/** A finding that names the member that a statement lacks. */
export const namesMember = (path: string) =>
  new RegExp(`^The statement does not have the form of computation-evidence:v1: "${escaped(path)}"(?: is missing|: expected )`);

/** The ways to leave out a member, by a service that signs what is left, by an attacker, and by someone without a key. */
const kindsOfMembers: Record<string, Tamper> = Object.fromEntries(
  (['absent', 'null'] as const).map((how) => [
    `a member ${how}`,
    (genuine, random) => {
      const path = pick(
        membersOf(genuine.statement).filter((each) => how === 'absent' || !mayBeNull.test(each)),
        random,
      );
      const statement = without(genuine.statement, path, how);
      const by = pick(['the service', 'the attacker', 'nobody'], random);
      const signature = { 'the service': genuine.signed, 'the attacker': attacker.signed, nobody: () => genuine.signature }[by];
      const keys = by === 'the attacker' ? { keys: [{ ...attacker.jwk, kid: genuine.key_id }] } : genuine.keys;
      const evidence = { ...genuine, statement, keys, signature: signature?.(statement) ?? '' };
      return { what: `${path}, signed by ${by}`, files: filesOf(evidence), named: namesMember(path) };
    },
  ]),
);

/** The ways in which a service moves an approval that was signed, and then makes digests and journal fit. */
const moves: Record<string, (start: Start, random: Random) => RegExp> = {
  users: (start, random) => {
    const [one, other] = twoSigned(start, random);
    const user = pick([other.user, 'mallory', 'dave', one.user.toUpperCase()], random);
    if (random() < 0.5) Object.assign(one, { user });
    else start.approvals.push({ ...one, user, key: pick([one.key, other.key, mallory.key], random) });
    return /^The signature of ".*" does not fit|^One key signed for two users|^The statement has two approvals/;
  },
  'signatures of users': (start, random) => {
    const [one, other] = twoSigned(start, random);
    [one.signature, other.signature] = [other.signature, one.signature];
    if (random() < 0.3) [one.key, other.key] = [other.key, one.key];
    return /^The signature of ".*" does not fit/;
  },
  computations: (start, random) => {
    if (random() < 0.3) start.domain = pick(['d2', 'D1', ''], random);
    else start.manifest.id = randomUUID();
    return fitting(start, random);
  },
  manifests: (start, random) => {
    const { manifest } = start;
    const change = whole(random, 3);
    if (change === 0) manifest.name += 'x';
    else if (change === 1) manifest.result_consumers[0] = { user_key: mallory.key };
    else manifest.datasets.reverse();
    if (change === 2) start.assets = [start.assets[0], start.assets[2], start.assets[1]].flatMap((asset) => asset ?? []);
    return fitting(start, random);
  },
  configurations: (start, random) => {
    const { agent_config } = start.configuration;
    const name = pick(
      ['cert_file', 'server_ca_file', 'client_ca_file', 'attested_tls', 'log_access', 'attestation_policy'] as const,
      random,
    );
    const policy = start.configuration.attestation_policy;
    if (name === 'attestation_policy')
      start.configuration[name] = pick([null, policy && { ...policy, allow_debug: true }], random);
    else if (name === 'log_access') start.configuration[name] = 'parties';
    else if (name === 'attested_tls') agent_config[name] = false;
    else agent_config[name] = 'other.pem';
    return fitting(start, random);
  },
  machines: (start, random) => {
    const [one] = twoSigned(start, random);
    const cvm_id = pick(['cvm-9', 'CVM-1', 'cvm-1 ', ''], random);
    start.cvm_id = cvm_id;
    const allowed = start.approvals.filter(({ cvm_ids }) => cvm_ids);
    if (random() < 0.5) return /^".*" did not approve the CVM/;
    for (const each of random() < 0.5 ? allowed : [...allowed, one])
      each.cvm_ids = pick([null, [cvm_id], [cvm_id, 'cvm-1']], random);
    return /^The signature of ".*" does not fit/;
  },
  times: (start, random) => {
    const [one] = twoSigned(start, random);
    one.expires_at = pick(['2099-01-01T00:00:00.000Z', '2025-07-17T09:00:00.001Z', '2025-07-17T09:00:00Z'], random);
    return /^The signature of ".*" does not fit/;
  },
};

/** Lets the digests in approvals fit, or leaves them. */
function fitting(start: Start, random: Random): RegExp {
  if (random() < 0.3) return /^".*" approved another (?:manifest|configuration)|^The signature of ".*" does not fit/;
  for (const each of start.approvals) {
    each.digest = canonicalDigest(start.manifest);
    each.configuration_digest = canonicalDigest(start.configuration);
  }
  return /^The signature of ".*" does not fit/;
}

function twoSigned({ approvals }: Start, random: Random) {
  const [one, other] = shuffled(approvals.slice(0, 3), random);
  if (!one || !other) throw new TypeError('The genuine evidence has three signed approvals.');
  return [one, other] as const;
}

const kindsOfMoves: Record<string, Tamper> = Object.fromEntries(
  Object.entries(moves).map(([what, move]) => [
    `approvals moved between ${what}`,
    ({ isPage = false }, random) => {
      let named = /./;
      const level = pick(['none', 'all', 'all_signed'] as const, random);
      const moved = genuineEvidence(whole(random, 4), { level, change: (start) => (named = move(start, random)) });
      const events = isPage
        ? [...moved.before, ...moved.events, ...moved.after]
        : pick([moved.events, [...moved.before, ...moved.events]], random);
      return { what, files: filesOf({ ...moved, events, isPage }), named };
    },
  ]),
);

const allKinds = { ...kinds, ...kindsOfKeys, ...kindsOfTokens, ...kindsOfMembers, ...kindsOfMoves };

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
  const kind = pick(Object.keys(allKinds), random);
  const scope = pick(Object.keys(scopes), random);
  const inScope = scopes[scope]?.(genuine) ?? genuine;
  const tampered = allKinds[kind]?.(inScope, random);
  if (!tampered) throw new TypeError(`There is no kind ${kind}.`);
  return { kind, ...tampered, genuine: filesOf(inScope), what: `${tampered.what} (events: ${scope})` };
}

type Node = Record<string, unknown> | unknown[];

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Changes a value, removes, adds, repeats or exchanges members somewhere inside. */
export function changedSomewhere<T extends object>(root: T, random: Random): { changed: T; what: string } {
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

export function whole(random: Random, below: number): number {
  return Math.floor(random() * below);
}

/** @param values at least one */
export function pick<T>(values: ArrayLike<T>, random: Random): T {
  return values[whole(random, values.length)] as T;
}

const escaped = (text: unknown) => String(text).replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
