import type { Schemas } from 'computation-management-client';
import { detailsIn } from 'computation-management-formats/bytes';
import {
  type ApprovalChange,
  changesBetween,
  type Covered,
  type CoveredValue as Value,
  mostChanges,
} from 'computation-management-formats/covered-changes';
import { plainName as quoted, userText } from 'computation-management-formats/quoted-name';

/** An event of the journal, with its details decoded. */
interface ChangeEvent {
  event_type: string;
  originator: string;
  timestamp: string;
  details: Record<string, unknown>;
}

interface Circumstances {
  /** The names of the datasets that are linked to the computation now, in the order of the manifest. */
  datasets: readonly string[];
  /** The CVMs to which the approval is limited. null: the approval is for all CVMs. */
  cvm_ids: readonly string[] | null;
  /** The events of the computation since the approval, newest first. The events tell who made a change. */
  events: readonly ChangeEvent[];
}

/** A change of what an approval covers in words, such as `alice replaced a.py 100e… by b.py bc76…`. */
export interface DescribedChange {
  sentence: string;
  /** The time of the change, RFC 3339. Undefined if no event tells it. */
  at: string | undefined;
}

interface Journal {
  /** The linked assets of the computation. */
  assets: readonly Schemas['AssetOfComputation'][];
  /** The events of the computation, newest first, at least back to the oldest approval to explain. */
  events: readonly Schemas['Event'][];
}

/** Describes why an approval does not count any more: who changed what, as far as the events tell. Empty for one that counts. */
export function staleChanges(
  { approved_at, cvm_ids, stale_because }: Pick<Schemas['Approval'], 'approved_at' | 'cvm_ids' | 'stale_because'>,
  { assets, events }: Journal,
): DescribedChange[] {
  return describeChanges(stale_because ?? [], {
    datasets: assets.filter(({ asset_type }) => asset_type === 'dataset').map(({ file_name }) => file_name),
    cvm_ids,
    events: events
      .filter(({ timestamp }) => timestamp >= approved_at)
      .map((event) => ({ ...event, details: detailsIn(event.details) })),
  });
}

/** Describes changes of what an approval covers as the service names them, such as `alice replaced a.py 100e… by b.py bc76…`. */
export function describeChanges(changes: readonly ApprovalChange[], given: Circumstances): DescribedChange[] {
  const more = changes.length >= mostChanges ? [saying('There may be more changes: check everything again')] : [];
  return [...describeEach(changes, given), ...more];
}

/**
 * Describes how one run differs from an earlier run: in its CVM, and in the manifest and configuration that were approved. Returns a
 * sentence for each difference.
 */
export function describeDifferences(earlier: Covered & { cvm_id: string }, later: Covered & { cvm_id: string }): string[] {
  const ofCvm = { path: '/run/cvm_id', approved: earlier.cvm_id, current: later.cvm_id };
  const changes = [...(earlier.cvm_id === later.cvm_id ? [] : [ofCvm]), ...changesBetween(earlier, later)];
  const datasets = later.manifest.datasets.map(({ filename }) => filename);
  return describeEach(changes, { datasets, cvm_ids: null, events: [] }).map(({ sentence }) => sentence);
}

/** Describes changes of what an approval covers, each change once. */
function describeEach(changes: readonly ApprovalChange[], given: Circumstances): DescribedChange[] {
  const described = changes.flatMap((change) => describe(change, changes, given) ?? []);
  return described.filter(({ sentence }, index) => described.findIndex((other) => other.sentence === sentence) === index);
}

function describe(change: ApprovalChange, all: readonly ApprovalChange[], given: Circumstances): DescribedChange | undefined {
  const { path, approved, current } = change;
  const [kind, ...names] = path.split('/').slice(1);
  const [part = '', index = '', field] = names;
  if (kind === 'signature') {
    return saying(
      current === 'required'
        ? 'The approval is not signed, and signatures are required now'
        : 'The key that signed the approval was replaced',
    );
  }
  if (kind === 'expires_at') {
    return saying(`The approval expired at ${/^[\dTZ:.-]+$/.test(String(approved)) ? approved : shown(approved)}`);
  }
  if (kind === 'cvm_ids') return saying(`The CVM ${quoted(given.cvm_ids?.[Number(part)] ?? '')} has another certificate`);
  if (kind === 'manifest' && part === 'algorithm') {
    if (index === 'hash') return ofAlgorithm(change, given);
    return index === 'user_key' ? ofKey('the algorithm') : ofField(change, names.slice(1), 'the algorithm');
  }
  if (kind === 'manifest' && part === 'datasets') {
    const isOfName = (other: ApprovalChange) => other.path === `/manifest/datasets/${index}/filename` && isOfSide(other, change);
    if (field !== 'filename' && isOneSided(change) && all.some(isOfName)) return undefined;
    const name = quoted(given.datasets[Number(index)] ?? `dataset ${Number(index) + 1}`);
    const isKnown = field === 'filename' || field === 'hash' || field === 'user_key';
    return isKnown ? ofDataset(change, field, name, given) : ofField(change, names.slice(2), name);
  }
  if (kind === 'manifest' && part === 'result_consumers') return ofKey(`result consumer ${Number(index) + 1}`, verbOf(change));
  if (part === '') return saying('The manifest is not complete any more');
  const dotted = names.join('.');
  const event = given.events.find(({ event_type, details: { fields } }) => {
    const isOf = (name: unknown) => dotted === name || dotted.startsWith(`${String(name)}.`);
    return event_type === 'updated' && Array.isArray(fields) && fields.some(isOf);
  });
  return saying(['changed', wordsOf(names), `from ${shown(approved)} to ${shown(current)}`], event);
}

/** The names in words of manifest and configuration fields, by their place. Used for fields whose change has no sentence of its own. */
const words = new Map([
  ['cvm_id', 'the CVM'],
  ['id', 'the identifier'],
  ['name', 'the name'],
  ['description', 'the description'],
  ['source.url', 'the address'],
  ['source.kbs_resource_path', 'the path of the key'],
  ['source.encrypted', 'the encryption'],
  ['kbs.url', 'the key broker'],
  ['kbs.enabled', 'the key broker'],
  ['decompress', 'the unpacking'],
  ['algo_type', 'the type'],
  ['algo_args', 'argument'],
  ['agent_config.cert_file', 'the certificate of the agent'],
  ['agent_config.server_ca_file', 'the CA of the server'],
  ['agent_config.client_ca_file', 'the CA of the clients'],
  ['agent_config.attested_tls', 'the attestation of the TLS of the agent'],
  ['approval', 'the level of approval'],
  ['log_access', 'the access to logs'],
  ['attestation_policy', 'the attestation policy'],
  ['attestation_policy.platforms', 'platform'],
  ['attestation_policy.measurements', 'measurement'],
  ['attestation_policy.allow_debug', 'the permission of the host to debug'],
  ['attestation_policy.minimum_tcb', 'the least versions of firmware'],
  ['attestation_policy.vmpl', 'the highest privilege level'],
  ['attestation_policy.accepted_tcb_statuses', 'accepted status'],
  ['attestation_policy.accepted_advisories', 'accepted advisory'],
  ['attestation_policy.allow_reconnect', 'the permission to go on over a later connection'],
  ['attestation_policy.allow_used_guest', 'the permission to use a machine that accepted another run'],
]);

function wordsOf(names: string[]): string {
  const place = names.findIndex((name) => /^\d+$/.test(name));
  const field = (place === -1 ? names : names.slice(0, place)).join('.');
  const [, tcb] = /^attestation_policy\.minimum_tcb\.(\w+)$/.exec(field) ?? [];
  const named = tcb === undefined ? words.get(field) : `the least version of ${tcb}`;
  return `${named ?? `the field ${quoted(field)}`}${place === -1 ? '' : ` ${Number(names[place]) + 1}`}`;
}

function ofAlgorithm({ approved, current }: ApprovalChange, { events }: Circumstances): DescribedChange {
  const isOf = (type: string) => (event: ChangeEvent) => event.event_type === type && event.details['asset_type'] === 'algorithm';
  const [linked, unlinked] = [events.find(isOf('asset_linked')), events.findLast(isOf('asset_unlinked'))];
  const named = (event: ChangeEvent | undefined) => (event ? quoted(String(event.details['file_name'])) : 'the algorithm');
  if (approved === null) return saying(['added', `${named(linked)} ${short(current)} as the algorithm`], linked);
  const before = `${named(unlinked)} ${short(approved)}`;
  if (current === null) return saying(['removed', `${before}, the algorithm`], unlinked);
  return saying(['replaced', before, `by ${linked ? `${named(linked)} ` : ''}${short(current)}`], linked);
}

function ofDataset(change: ApprovalChange, field: string, name: string, { events }: Circumstances): DescribedChange {
  const { approved, current } = change;
  const eventOf = (type: string, file: Value) =>
    events.find(({ event_type, details }) => event_type === type && details['file_name'] === file);
  if (field === 'user_key') return ofKey(name, verbOf(change));
  if (field === 'hash') {
    const linked = events.find(
      ({ event_type, details }) => event_type === 'asset_linked' && quoted(String(details['file_name'])) === name,
    );
    return saying(['replaced', `${name} ${short(approved)}`, `by ${short(current)}`], linked);
  }
  if (approved === null) return saying(['added', `the dataset ${shown(current)}`], eventOf('asset_linked', current));
  if (current === null) return saying(['removed', `the dataset ${shown(approved)}`], eventOf('asset_unlinked', approved));
  return saying('The datasets have another order');
}

function ofField({ approved, current }: ApprovalChange, names: string[], whose: string): DescribedChange {
  return saying(['changed', `${wordsOf(names)} of ${whose}`, `from ${shown(approved)} to ${shown(current)}`]);
}

const isOfSide = (a: ApprovalChange, b: ApprovalChange) =>
  (a.approved === null) === (b.approved === null) && (a.current === null) === (b.current === null);
const isOneSided = ({ approved, current }: ApprovalChange) => approved === null || current === null;
const verbOf = ({ approved, current }: ApprovalChange) =>
  approved === null ? 'added' : current === null ? 'removed' : 'replaced';
const ofKey = (whose: string, verb = 'replaced') => saying([verb, `the key of ${whose}`]);

/**
 * Makes a described change.
 * @param what a whole sentence, or what somebody did in parts: the verb, its object, and the rest
 * @param event the event that tells who made the change, and when
 */
function saying(what: string | [verb: string, object: string, rest?: string], event?: ChangeEvent): DescribedChange {
  if (typeof what === 'string') return { sentence: what, at: undefined };
  const [verb, object, ...rest] = what;
  const words = event ? [userText(event.originator), verb, object] : [object, 'was', verb];
  return { sentence: [...words, ...rest].join(' '), at: event?.timestamp };
}

function shown(value: Value): string {
  if (typeof value !== 'string') return value === null ? 'nothing' : String(value);
  return value.startsWith('sha256:') ? short(value) : quoted(value);
}

const short = (hash: Value) =>
  hash === null ? 'nothing' : `${String(hash).slice(0, String(hash).startsWith('sha256:') ? 11 : 4)}…`;
