import type { Schemas } from 'computation-management-client';
import { detailsIn } from 'computation-management-formats/bytes';
import { type ApprovalChange, changesBetween, type Covered, mostChanges } from 'computation-management-formats/covered-changes';
import { plainName as quoted, quotedName, userText, imitated, lookAlikeOf } from 'computation-management-formats/quoted-name';
import { approvalLevels } from 'computation-management-formats/vocabulary';
import { componentText } from './lines.ts';
import { fingerprintOf } from './manifest.ts';
import { type MarkedText, markedPair } from './marked.ts';

/** The things that a change of an approved computation can concern, from the most to the least harmful. Lists of changes have this order. */
const subjects = ['receiver', 'machine', 'logs', 'code', 'data', 'address', 'key', 'agent', 'approval', 'other'] as const;
/** The effects of changes on the protection of the parties, from the most to the least harmful. */
const effects = ['weaker', 'changed', 'stricter'] as const;

/** A change of what an approval covers, in words. */
export interface ChangeCard {
  /** The subject of the change: who receives the results, which machines may run, who reads logs, the code, the data, and so on. */
  subject: (typeof subjects)[number];
  /** The user whom the change is about, as the service names the user. null: nobody, or nobody is known. */
  user: string | null;
  /** The change in a sentence without a full stop, such as `alice lets carol receive the results`. Names in it are quoted. */
  sentence: string;
  /** The effect of the change: it protects the parties less (`weaker`), more (`stricter`), or neither. */
  effect: (typeof effects)[number];
  /** The value that was approved, quoted, with the characters marked that differ from `current`. null: there was none. */
  approved: MarkedText | null;
  /** The value now, quoted, with the characters marked that differ from `approved`. null: there is none. */
  current: MarkedText | null;
  /** The user who made the change, as the service names the user. Undefined if nobody is known. */
  by: string | undefined;
  /** The time of the change, RFC 3339. Undefined if it is not known. */
  at: string | undefined;
  /** The name in the change that a reader could take for another name, and that name. Undefined if there is none. */
  warning: string | undefined;
}

type Value = ApprovalChange['current'];

/** A difference between what was approved and what would run now. The service says who made it. */
type Change = ApprovalChange & Partial<Pick<Schemas['ApprovalChange'], 'user' | 'by' | 'at'>>;

interface Circumstances {
  /** The name of the algorithm now, quoted. */
  algorithm: string;
  /** The names of the datasets that are linked to the computation now, in the order of the manifest. */
  datasets: readonly string[];
  /** All users whom the computation names. A name that looks like one of them is warned of. */
  people: readonly string[];
  /** The CVMs to which the approval is limited. null: the approval is for all CVMs. */
  cvm_ids: readonly string[] | null;
  /** The events of the computation since the approval, newest first. They have the names of algorithms, which a manifest lacks. */
  events: readonly Schemas['Event'][];
}

interface Journal {
  computation: Pick<Schemas['ComputationView'], 'parties' | 'assets'>;
  /** The events of the computation, newest first, at least back to the oldest approval to explain. */
  events: readonly Schemas['Event'][];
}

type Explained = Pick<Schemas['Approval'], 'approved_at' | 'cvm_ids' | 'stale_because'>;

/**
 * Describes why an approval does not count any more, one card for each change: who changed what, and whether it is weaker or stricter than
 * what was approved. The most harmful comes first. Empty for an approval that counts.
 */
export function changeCards({ approved_at, cvm_ids, stale_because }: Explained, { computation, events }: Journal): ChangeCard[] {
  const { parties = [], assets = [] } = computation;
  const changes = stale_because ?? [];
  const namesOf = (type: string) => assets.filter(({ asset_type }) => asset_type === type).map(({ file_name }) => file_name);
  const [algorithm] = namesOf('algorithm');
  const named = changes.flatMap(({ user, by }) => [user, by].filter((name) => name !== null));
  const given = {
    algorithm: algorithm === undefined ? 'the algorithm' : quoted(algorithm),
    datasets: namesOf('dataset'),
    people: [...parties.map(({ user }) => user), ...named],
    cvm_ids,
    events: events.filter(({ timestamp }) => timestamp >= approved_at),
  };
  const nothing = { path: '', approved: null, current: null };
  const more = card(nothing, { subject: 'other', what: 'There may be more changes: check everything again' }, given);
  return [...(changes.length >= mostChanges ? [more] : []), ...describeEach(changes, given)];
}

/**
 * Describes how one run differs from an earlier run: in its CVM, and in the manifest and configuration that were approved. Returns a
 * sentence for each difference.
 */
export function describeDifferences(earlier: Covered & { cvm_id: string }, later: Covered & { cvm_id: string }): string[] {
  const ofCvm = { path: '/run/cvm_id', approved: earlier.cvm_id, current: later.cvm_id };
  const changes = [...(earlier.cvm_id === later.cvm_id ? [] : [ofCvm]), ...changesBetween(earlier, later)];
  const datasets = later.manifest.datasets.map(({ filename }) => filename);
  const given = { algorithm: 'the algorithm', datasets, people: [], cvm_ids: null, events: [] };
  return describeEach(changes, given).map(({ sentence }) => sentence);
}

/** Describes changes of what an approval covers, each change once, the most harmful first. */
function describeEach(changes: readonly Change[], given: Circumstances): ChangeCard[] {
  const all = paired(withoutPlaces(changes));
  const rank = ({ subject, effect }: ChangeCard) => subjects.indexOf(subject) * effects.length + effects.indexOf(effect);
  return all.flatMap((change) => describe(change, all, given) ?? []).sort((a, b) => rank(a) - rank(b));
}

const receiver = /^\/manifest\/result_consumers\/\d+\/user_key$/;
/** Returns whether a dataset stands at the place of another now, where none was added or removed. */
const isOrder = ({ path, ...change }: Change) => /^\/manifest\/datasets\/\d+\/filename$/.test(path) && !isOneSided(change);
const policyPath = '/configuration/attestation_policy';

/**
 * Returns changes with one for a policy that was added or removed as a whole, and with lists of a policy as sets: an entry that only has
 * another place in its list has not changed.
 */
function withoutPlaces(changes: readonly Change[]): Change[] {
  const whole = changes.find(({ path, ...change }) => path === `${policyPath}/vmpl` && isOneSided(change)); // each policy has it
  if (whole) {
    const shownAs = (value: Value) => (value === null ? null : 'a policy');
    const one = { ...whole, path: policyPath, approved: shownAs(whole.approved), current: shownAs(whole.current) };
    return [one, ...changes.filter(({ path }) => !path.startsWith(`${policyPath}/`))];
  }
  const listOf = ({ path }: Change) => new RegExp(`^${policyPath}/(\\w+)/\\d+$`).exec(path)?.[1];
  return changes.flatMap((change) => {
    const list = listOf(change);
    if (list === undefined) return [change];
    const { approved, current } = change;
    const others = changes.filter((other) => listOf(other) === list);
    const removed = approved !== null && others.every((other) => other.current !== approved);
    const added = current !== null && others.every((other) => other.approved !== current);
    return [...(removed ? [{ ...change, current: null }] : []), ...(added ? [{ ...change, approved: null }] : [])];
  });
}

/** A change with the change by which a receiver of the results went when this one came. */
type Paired = Change & { gone?: Change };

/** Joins the receiver that came with the one that went, where there is one of each. */
function paired(changes: readonly Change[]): Paired[] {
  const ofReceivers = changes.filter(({ path }) => receiver.test(path));
  const [came, ...moreCame] = ofReceivers.filter(({ approved }) => approved === null);
  const [gone, ...moreGone] = ofReceivers.filter(({ current }) => current === null);
  if (!came || !gone || moreCame.length + moreGone.length > 0) return [...changes];
  return changes.flatMap((change) => (change === gone ? [] : [change === came ? { ...came, gone } : change]));
}

function describe(change: Paired, all: readonly Change[], given: Circumstances): ChangeCard | undefined {
  const { path, approved, current } = change;
  const [kind, ...names] = path.split('/').slice(1);
  const [part = '', index = '', field] = names;
  const say = (subject: ChangeCard['subject'], what: What, more: More = {}) => card(change, { subject, what, ...more }, given);
  if (kind === 'signature') {
    return current === 'required'
      ? say('approval', 'The approval is not signed, and signatures are required now', { effect: 'stricter' })
      : say('key', 'The key that signed the approval was replaced');
  }
  if (kind === 'expires_at') {
    return say('approval', `The approval expired at ${/^[\dTZ:.-]+$/.test(String(approved)) ? approved : shown(approved)}`);
  }
  if (kind === 'max_runs') {
    const runs = approved === 1 ? 'one run, which has started' : `${String(approved)} runs, which have all started`;
    return say('approval', `The approval was for ${runs}`, { values: [null, null] });
  }
  if (kind === 'cvm_ids') {
    return say('machine', `The CVM ${quoted(given.cvm_ids?.[Number(part)] ?? '')} has another certificate`);
  }
  if (receiver.test(path)) return ofReceiver(change, given);
  if (kind === 'manifest' && part === 'algorithm') {
    if (index === 'hash') return ofAlgorithm(change, given);
    if (index === 'user_key') return say('key', ofKey(change, given.algorithm));
    return ofField(change, names.slice(1), given, given.algorithm);
  }
  if (kind === 'manifest' && part === 'datasets') {
    const isOfName = (other: Change) => other.path === `/manifest/datasets/${index}/filename` && isOfSide(other, change);
    if (field !== 'filename' && isOneSided(change) && all.some(isOfName)) return undefined;
    if (isOrder(change) && all.find(isOrder) !== change) return undefined;
    const name = quoted(given.datasets[Number(index)] ?? `dataset ${Number(index) + 1}`);
    if (field === 'user_key') return say('key', ofKey(change, name));
    return field === 'filename' || field === 'hash'
      ? ofDataset(change, field, name, given)
      : ofField(change, names.slice(2), given, name);
  }
  if (part === '') return say('other', 'The manifest is not complete any more');
  return ofField(change, names, given);
}

/** Returns how much a value protects the parties, as a number that is larger for more. */
type Strictness = (value: Value) => number;
/** A member with its name in words, the subject of its changes, and its strictness. Without the latter, no value protects more. */
type Member = [words: string, subject: ChangeCard['subject'], strictness?: Strictness];

const least = (value: Value) => Number(value ?? -1);
const most = (value: Value) => -Number(value);
const isThere = (value: Value) => Number(value !== null && value !== '');
const isOutside = (value: Value) => Number(value === null);
const level = (value: Value) => (approvalLevels as readonly Value[]).indexOf(value);

/**
 * The names of members of manifest and configuration, and what a change of each concerns, for those whose change has no sentence of its own.
 * Each key is the path of a member; an entry of a list has the path of its list.
 */
const members = new Map<string, Member>([
  ['cvm_id', ['the CVM', 'machine']],
  ['id', ['the identifier', 'other']],
  ['name', ['the name', 'other']],
  ['description', ['the description', 'other']],
  ['source.url', ['the address', 'address']],
  ['source.kbs_resource_path', ['the path of the key', 'address']],
  ['source.encrypted', ['the encryption', 'address', isThere]],
  ['kbs.url', ['the key broker', 'address']],
  ['kbs.enabled', ['the key broker', 'address']],
  ['decompress', ['the unpacking', 'data']],
  ['algo_type', ['the type', 'code']],
  ['algo_args', ['the argument', 'code']],
  ['agent_config.cert_file', ['the certificate of the agent', 'agent', isThere]],
  ['agent_config.server_ca_file', ['the CA of the server', 'agent', isThere]],
  ['agent_config.client_ca_file', ['the CA of the clients', 'agent', isThere]],
  ['agent_config.attested_tls', ['the attestation of the TLS of the agent', 'agent', least]],
  ['approval', ['the level of approval', 'approval', level]],
  ['log_access', ['the access to logs', 'logs', (value) => Number(value === 'none')]],
  ['result_review', ['the review of results', 'receiver', isThere]],
  ['result_review.reviewers', ['the reviewer', 'receiver', isOutside]],
  ['result_review.needed', ['the number of releases that a result needs', 'receiver', least]],
  ['result_review.consumers', ['the receiver of released results', 'receiver', isOutside]],
  ['attestation_policy', ['the attestation policy', 'machine', isThere]],
  ['attestation_policy.platforms', ['the platform', 'machine', isOutside]],
  ['attestation_policy.measurements', ['the measurement', 'machine', isOutside]],
  ['attestation_policy.allow_debug', ['the permission of the host to debug', 'machine', most]],
  ['attestation_policy.vmpl', ['the highest privilege level', 'machine', most]],
  ['attestation_policy.accepted_tcb_statuses', ['the accepted status', 'machine', isOutside]],
  ['attestation_policy.accepted_advisories', ['the accepted advisory', 'machine', isOutside]],
  ['attestation_policy.allow_reconnect', ['the permission to go on over a later connection', 'machine', most]],
  ['attestation_policy.allow_used_guest', ['the permission to use a machine that accepted another run', 'machine', most]],
]);

function memberAt(field: string): Member {
  const [, tcb] = /^attestation_policy\.minimum_tcb\.(\w+)$/.exec(field) ?? [];
  if (tcb !== undefined) return [`the least version of ${componentText(tcb)}`, 'machine', least];
  const [, pcr] = /^attestation_policy\.pcrs\.sha256\.(\d+)$/.exec(field) ?? [];
  if (pcr !== undefined) return [`the value that PCR ${pcr} must have`, 'machine', isThere];
  return members.get(field) ?? [`the field ${quoted(field)}`, 'other'];
}

/** Describes a change of a member. @param whose the file whose member it is. Default: the computation's own member */
function ofField(change: Change, names: string[], given: Circumstances, whose?: string): ChangeCard {
  const { approved, current } = change;
  const place = names[1] === 'pcrs' ? -1 : names.findIndex((name) => /^\d+$/.test(name)); // PCRs are no list: they have numbers
  const field = (place === -1 ? names : names.slice(0, place)).join('.');
  const [words, subject, strictness] = memberAt(field);
  const grows = strictness ? strictness(current) - strictness(approved) : 0;
  const effect = grows === 0 ? 'changed' : grows > 0 ? 'stricter' : 'weaker';
  const owned = whose === undefined ? '' : ` of ${whose}`;
  const isWhole = field === 'attestation_policy';
  const verb = verbOf(change);
  const entry = place !== -1 && verb !== 'replaced' ? `${words} ${shown(current ?? approved)}` : undefined;
  const listed = subject === 'machine' ? ' of the attestation policy' : owned;
  const isRule = subject === 'machine' && isOneSided(change);
  const what: What = isWhole
    ? [verb, words, current === null ? ': any machine may run this now' : ', which machines must satisfy now']
    : entry !== undefined
      ? [verb, `${entry}${listed}`]
      : isRule
        ? [verb, words, `: ${shown(current ?? approved)}`]
        : ['changed', `${words}${owned}`, ` from ${shown(approved)} to ${shown(current)}`];
  return card(change, { subject, what, effect, ...(isWhole && { values: [null, null] }) }, given);
}

/** Describes that somebody receives the results, or does not receive them any more. */
function ofReceiver(change: Paired, given: Circumstances): ChangeCard {
  const { approved, current, gone, user = null, by } = change;
  if (user !== null && !isOneSided(change)) {
    return card(change, { subject: 'key', what: [verbOf(change), `the key of ${person(user, given)}`] }, given);
  }
  const nameOf = (name: string | null, key: Value, look = imitated) => (name === null ? keyText(key) : person(name, given, look));
  if (current === null) {
    const what: What = ['removed', nameOf(user, approved), ' from the receivers of the results'];
    return card(change, { subject: 'receiver', what, effect: 'stricter', values: [user, null] }, given);
  }
  const before = gone ? nameOf(gone.user ?? null, gone.approved) : approved === null ? undefined : keyText(approved);
  const instead = before === undefined ? '' : ` in place of ${before}`;
  const who = nameOf(user, current, lookAlikeOf);
  const what: What = by == null ? `${who} receives the results now${instead}` : ['lets', who, ` receive the results${instead}`];
  return card(change, { subject: 'receiver', what, effect: 'weaker', values: [gone?.user ?? null, user] }, given);
}

const keyText = (key: Value) =>
  `the holder of the key ${String(key).startsWith('sha256:') ? short(key) : fingerprintOf(String(key))}`;

function ofAlgorithm(change: Change, given: Circumstances): ChangeCard {
  const { approved, current } = change;
  const namesIn = (type: string) =>
    given.events
      .filter(({ event_type }) => event_type === type)
      .map(({ details }) => detailsIn(details))
      .filter(({ asset_type }) => asset_type === 'algorithm')
      .map(({ file_name }) => quoted(String(file_name)));
  const [linked] = namesIn('asset_linked');
  const unlinked = namesIn('asset_unlinked').at(-1) ?? 'the algorithm';
  const say = (what: What) => card(change, { subject: 'code', what }, given);
  if (approved === null) return say(['added', `${linked ?? 'the algorithm'} ${short(current)} as the algorithm`]);
  const before = `${unlinked} ${short(approved)}`;
  if (current === null) return say(['removed', `${before}, the algorithm`]);
  return say(['replaced', before, ` by ${linked === undefined ? '' : `${linked} `}${short(current)}`]);
}

function ofDataset(change: Change, field: string, name: string, given: Circumstances): ChangeCard {
  const { approved, current } = change;
  const say = (what: What, more: More = {}) => card(change, { subject: 'data', what, ...more }, given);
  if (field === 'hash') return say(['replaced', `${name} ${short(approved)}`, ` by ${short(current)}`]);
  if (approved === null) {
    return say(['added', `the dataset ${shown(current)}`], { lookAlike: lookAlikeOf(String(current), given.datasets) });
  }
  if (current === null) return say(['removed', `the dataset ${shown(approved)}`]);
  return say('The datasets have another order', { values: [null, null] });
}

const isOfSide = (a: Change, b: Change) =>
  (a.approved === null) === (b.approved === null) && (a.current === null) === (b.current === null);
const isOneSided = ({ approved, current }: Pick<Change, 'approved' | 'current'>) => approved === null || current === null;
const verbOf = ({ approved, current }: Change) => (approved === null ? 'added' : current === null ? 'removed' : 'replaced');
const ofKey = (change: Change, file: string): What => [
  verbOf(change),
  `the key of ${file}`,
  change.current !== null && change.user != null && change.user !== change.by
    ? `, which is now that of ${userText(change.user)}`
    : '',
];

/** A whole sentence, or what somebody did in parts: the verb, its object, and the rest. */
type What = string | [verb: string, object: string, rest?: string];

interface More {
  effect?: ChangeCard['effect'];
  /** The values to show, if they are not those of the change. */
  values?: [approved: Value, current: Value];
  /** The other name for which a reader could take a name in the change. */
  lookAlike?: string | undefined;
}

function card(change: Change, said: More & Pick<ChangeCard, 'subject'> & { what: What }, given: Circumstances): ChangeCard {
  const { subject, what, effect = 'changed', values, lookAlike } = said;
  const [user, by] = [change.user ?? null, change.by ?? undefined];
  const [approved, current] = values ?? [change.approved, change.current];
  const texts = [approved, current].map((value) => (value === null ? null : String(value)));
  const [one = null, other = null] = texts;
  const [before, after] = markedPair(one ?? '', other ?? '');
  return {
    subject,
    user,
    sentence: spoken(what, by === undefined ? undefined : person(by, given)),
    effect,
    approved: one === null ? null : before,
    current: other === null ? null : after,
    by,
    at: change.at ?? undefined,
    warning: warningOf([user, by], texts, given, lookAlike),
  };
}

function spoken(what: What, by: string | undefined): string {
  if (typeof what === 'string') return by === undefined ? what : `${what}, by ${by}`;
  const [verb, object, rest = ''] = what;
  return `${by === undefined ? `${object} was ${verb}` : `${by} ${verb} ${object}`}${rest}`;
}

function warningOf(
  [about, by]: (string | null | undefined)[],
  [one, other]: (string | null)[],
  { people }: Circumstances,
  lookAlike: string | undefined,
): string | undefined {
  for (const [user, look] of [[about, lookAlikeOf] as const, [by, imitated] as const]) {
    const of = user == null ? undefined : look(user, people);
    if (user != null && of !== undefined) return `${userText(user)} looks like ${userText(of)}`;
  }
  const like = lookAlike ?? (other == null || one == null ? undefined : lookAlikeOf(other, [one]));
  return other == null || like === undefined ? undefined : `${quotedName(other)} looks like ${quotedName(like)}`;
}

/** Returns the name of a user as `userText` does, with the other user of the computation for whom a reader could take it. */
function person(user: string, { people }: Pick<Circumstances, 'people'>, look = imitated): string {
  const like = look(user, people);
  return `${userText(user)}${like === undefined ? '' : ` (looks like ${userText(like)})`}`;
}

function shown(value: Value): string {
  if (typeof value !== 'string') return value === null ? 'nothing' : String(value);
  return isHash(value) ? short(value) : quoted(value);
}

const isHash = (text: string) => /^(?:sha256:)?[0-9a-f]{64,}$/.test(text);

/** Shortens a hash to its first and its last 8 hex digits. Quotes a value that is no hash. */
const short = (hash: Value) => {
  const text = String(hash ?? 'nothing');
  return isHash(text) ? text.replace(/^(\w+:)?(.{8}).+(.{8})$/, '$1$2…$3') : quoted(text);
};
