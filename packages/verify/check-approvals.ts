import { isSignatureOf } from 'computation-management-formats/approval-signature';
import { approvalText, limitsOf } from 'computation-management-formats/consent';
import { toBase64, toHex } from 'computation-management-formats/bytes';
import { canonicalJson } from 'computation-management-formats/digests';
import { numberOf } from 'computation-management-formats/identifiers';
import { parsePublicKey } from 'computation-management-formats/public-key';
import { timeOf } from 'computation-management-formats/timestamps';
import { isAround, isInOrder } from './check-run.ts';
import { check, fails, failsIf, type Finding, holds, note, quoted, party, parties, unchecked } from './finding.ts';
import { type Approval, type ChainedEvent, detailsOf, isBeginning, nameOf, type Statement } from './statement.ts';

/**
 * Checks the assets in an evidence statement against the manifest, and that every user whose approval was needed gave a valid
 * one.
 */
export async function checkApprovals(statement: Statement): Promise<Finding[]> {
  const { run, events } = statement;
  const start = { ...statement, cvm: run.cvm_id, startedAt: events.started.timestamp, needed: neededUsers(statement) };
  const checked = await checkEach(start, statement.approvals);
  const sound = checked.flatMap(({ approval, finding }) =>
    finding.verdict === 'holds' || (finding.verdict === 'note' && approval.signature === null) ? [approval] : [],
  );
  return [
    ...checkAssets(statement),
    ...checkSpeakers(statement),
    ...checked.map(({ finding }) => finding),
    ...(sound.some(({ signature }) => signature !== null) ? [whoseKeys] : []), // defence
    ...checkLevel(statement, sound),
  ];
}

/** The note on keys that signed: who holds them is the word of the service. */
export const whoseKeys = note('The service alone says whose keys these are. Compare each fingerprint with the user.');

/** Finds users with two approvals in a statement, and keys and counters of runs that stand for two. */
export function checkSpeakers({ approvals }: Pick<Statement, 'approvals'>): Finding[] {
  return approvals.flatMap(({ user, key, approval_id }, index) => {
    const earlier = approvals.slice(0, index);
    const counter = earlier.find((other) => approval_id !== null && other.approval_id === approval_id);
    return [
      ...(earlier.some((other) => other.user === user) ? [fails(`The statement has two approvals of ${party(user)}.`)] : []),
      ...(counter
        ? [fails(`Two approvals have one counter of runs, that of ${party(counter.user)} and that of ${party(user)}.`)]
        : []),
      ...checkSharer({ user, key }, earlier),
    ];
  });
}

/** Finds another user for whom the key of a user signed too. */
export function checkSharer({ user, key }: Speaker, others: readonly Speaker[]): Finding[] {
  const sharer = others.find((other) => key !== null && other.key === key && other.user !== user);
  if (!sharer) return [];
  return [fails(`One key signed for two users, ${party(sharer.user)} and ${party(user)}: it can speak for one of them only.`)];
}

type Speaker = Pick<Approval, 'user' | 'key'>;

/** Returns the users whose approval a run needed: by the computation's level, and by the assets that demand one. */
export function neededUsers({ approval, assets, result_consumers, configuration }: Statement): string[] {
  const demanding = assets.filter(({ use }) => approval !== 'none' || use !== 'open').map(({ creator }) => creator);
  return [...new Set([...demanding, ...(approval === 'none' ? [] : [...result_consumers, ...reviewersIn(configuration)])])];
}

const reviewersIn = ({ result_review }: Statement['configuration']) => result_review?.reviewers ?? [];

function checkAssets({ manifest, assets, approvals }: Statement): Finding[] {
  const inManifest = [manifest.algorithm, ...manifest.datasets].map(({ hash }) => toHex(Uint8Array.from(hash)));
  const approvers = new Set(approvals.map(({ user }) => user));
  const withoutWord = assets.filter(({ use, creator }) => use !== 'open' && !approvers.has(creator));
  return [
    check(
      JSON.stringify(inManifest) === JSON.stringify(assets.map(({ checksum }) => checksum)),
      `The assets are those of the manifest (${assets.length}).`,
      'The assets are not those of the manifest: their checksums differ.',
    ),
    ...withoutWord.map(({ id, creator }) =>
      fails(`The asset ${quoted(id)} needs the approval of ${party(creator)}, who gave none.`),
    ),
  ];
}

/**
 * Checks that every user whose approval the computation demands gave one, and signed it if signatures are demanded.
 * @param sound the approvals that hold. Other approvals have findings of their own
 */
function checkLevel(statement: Statement, sound: Approval[]): Finding[] {
  const { approval, result_consumers, manifest, approvals, configuration } = statement;
  const { result_review: review } = configuration;
  // The agent gives a result under review to the reviewers alone.
  const receivers = review?.reviewers ?? result_consumers;
  const ofReceivers = manifest.result_consumers.map(({ user_key }, index) => ({ user_key, user: receivers[index] ?? '' }));
  if (receivers.length !== ofReceivers.length) {
    const what = review ? 'reviewers' : 'result consumers';
    return [fails(`The ${what} are not those of the manifest: their numbers differ.`)];
  }
  if (review && JSON.stringify(review.consumers) !== JSON.stringify(result_consumers)) {
    return [fails('The result consumers are not those that the configuration names.')];
  }
  const needed = neededUsers(statement);
  if (approval === 'none') return checkUses(needed, sound);
  const given = new Map(approvals.map((each) => [each.user, each]));
  const missing = needed.filter((user) => !given.has(user));
  const isSigned = approval === 'all_signed';
  const unsigned = isSigned ? needed.filter((user) => isUnsigned(given.get(user))) : [];
  const byOtherKey = ofReceivers.filter(({ user, user_key }) => (given.get(user)?.key ?? user_key) !== user_key);
  const who = review ? 'reviewer' : 'result consumer';
  const problems = [
    ...missing.map((user) => fails(`The computation demands the approval of all, and ${party(user)} gave none.`)),
    ...unsigned.map((user) => fails(`The computation demands signed approvals, and that of ${party(user)} has no signature.`)),
    ...byOtherKey.map(({ user }) => fails(`${party(user)} signed with a key other than that of this ${who} in the manifest.`)),
  ];
  if (problems.length > 0 || !areAllAmong(needed, sound)) return problems; // defence
  const all = `The creators of all assets and all result consumers${review ? ' and reviewers' : ''}`;
  return [holds(`${all} approved, as the computation demands: ${byWhom(needed, sound)}.`)];
}

const areAllAmong = (users: string[], approvals: Approval[]) =>
  users.every((user) => approvals.some((each) => each.user === user));

/** Says which users approved with a signature of their own, and for which the service alone says that they approved. */
function byWhom(users: string[], sound: Approval[]): string {
  const signed = users.filter((user) => sound.some((each) => each.user === user && each.signature !== null));
  const others = users.filter((user) => !signed.includes(user));
  return [
    ...(signed.length > 0 ? [`with a signature ${parties(signed)}`] : []),
    ...(others.length > 0 ? [`by the word of the service alone ${parties(others)}`] : []),
  ].join('; ');
}

/**
 * Returns whether an approval was given without a signature or without the key of its signature. False if there is no approval.
 */
const isUnsigned = (approval: Approval | undefined) =>
  approval !== undefined && (approval.signature === null || approval.key === null);

/**
 * Reports who approved when only assets demand approvals, not the computation. Missing approvals are reported by `checkAssets`.
 */
function checkUses(needed: string[], sound: Approval[]): Finding[] {
  if (needed.length === 0) return [holds('The run needed no approval: neither the computation nor an asset demanded one.')];
  if (!areAllAmong(needed, sound)) return [];
  const users = byWhom(needed, sound);
  return [holds(`The creators of the assets that demanded it approved: ${users}. The computation demanded no more.`)];
}

/** The facts about the start of a run by which an approval counts for it or not. */
interface ApprovedStart extends Pick<Statement, 'domain' | 'computation' | 'manifest_digest' | 'configuration_digest'> {
  cvm: string;
  startedAt: string;
  /** The users whose approval the run needed. */
  needed: readonly string[];
}

/** Checks each of several approvals as `checkApproval` does. */
export const checkEach = (start: ApprovedStart, approvals: readonly Approval[]) =>
  Promise.all(approvals.map(async (approval) => ({ approval, finding: await checkApproval(start, approval) })));

/** Checks that an approval counted at the start of a run, and that its signature is by its key. */
async function checkApproval(start: ApprovedStart, approval: Approval): Promise<Finding> {
  const { domain, computation, manifest_digest, configuration_digest, cvm, startedAt, needed } = start;
  const user = party(approval.user);
  const { digest, configuration_digest: configuration, cvm_ids, approved_at, expires_at, signature, key } = approval;
  const counting = whyNotCounted(approval);
  const [problem] = [
    ...failsIf(digest !== manifest_digest, `${user} approved another manifest, ${quoted(digest)}.`),
    ...failsIf(configuration !== configuration_digest, `${user} approved another configuration, ${quoted(configuration)}.`),
    ...failsIf(cvm_ids?.includes(cvm) === false, `${user} did not approve the CVM ${quoted(cvm)}.`),
    ...failsIf(!isInOrder(approved_at, startedAt), `${user} approved at ${quoted(approved_at)}, which is not before the run.`),
    ...failsIf(expires_at !== null && !isBefore(startedAt, expires_at), `The approval of ${user} expired before the run.`),
    ...failsIf(counting !== undefined, `The approval of ${user} ${counting}.`),
  ];
  if (problem) return problem;
  if (signature === null && key === null) {
    return note(`${user} approved this manifest and configuration without a signature. The service alone says so.`);
  }
  if (signature === null) return fails(`The approval of ${user} has a key, but no signature.`);
  if (key === null) return fails(`The signature of ${user} has no key, so nobody can check it.`);
  const approved = { domain, computation, approver: approval.user, manifest_digest, configuration_digest };
  const text = approvalText({ ...approved, ...limitsOf(approval) });
  const say = needed.includes(approval.user) ? unchecked : note;
  const sentence = `${user} approved this manifest and configuration`;
  return await checkSignature(user, { text, key, signature }, [sentence, 'approval'], say);
}

/** Checks that a signature is by a key. @param said what the user says with it, as a sentence and in a word */
export async function checkSignature(
  user: string,
  { text, key, signature }: { text: string; key: string; signature: string },
  [sentence, word]: [sentence: string, word: string],
  say = unchecked,
): Promise<Finding> {
  const fingerprint = fingerprintOf(key);
  const fits = fingerprint !== undefined && (await isSignatureOf({ text, key, signature })); // defence
  if (fits === undefined)
    return say(`The signature of ${user} was not checked here: this browser or Node cannot verify signatures by such a key.`);
  const otherwise = `The signature of ${user} does not fit the ${word} and its key.`;
  return check(fits, `${sentence}, signed by the key ${fingerprint}.`, otherwise);
}

/** Says why the number of a run on an approval cannot be. Undefined if it can. */
function whyNotCounted({ max_runs, use, approval_id }: Approval): string | undefined {
  if (max_runs === null && use === null && approval_id === null) return undefined;
  if (max_runs === null || use === null || approval_id === null) return 'has only a part of `max_runs`, `use` and `approval_id`';
  const isWithin = Number.isInteger(max_runs) && Number.isInteger(use) && use >= 1 && use <= max_runs;
  return isWithin ? undefined : `is for ${max_runs} runs, and this would be number ${use}`;
}

/** Returns whether a time in RFC 3339 is before another, in any time zone and precision. False if one of the texts is no time. */
const isBefore = (time: string, other: string): boolean => timeOf(time) < timeOf(other);

/**
 * The fingerprints of the keys that were read already, by key. They are remembered because it takes long to see that an RSA key
 * is not weak.
 */
const fingerprints = new Map<string, string | undefined>();

/**
 * Returns the fingerprint of a public key. Undefined for a key that the service would not take, or would write in another way.
 */
function fingerprintOf(key: string): string | undefined {
  if (!fingerprints.has(key)) fingerprints.set(key, readFingerprint(key));
  return fingerprints.get(key);
}

function readFingerprint(key: string): string | undefined {
  try {
    const { spki, fingerprint } = parsePublicKey(key);
    return toBase64(spki) === key ? fingerprint : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Checks that each approval of a statement is the last one that its user gave before the run, and was not withdrawn. A signature
 * does not show that: its text has neither a time nor a number, so the signature of an approval that was withdrawn still fits.
 * @param before the events of the journal before the run, oldest first. The first ones may be missing
 */
export function checkApprovalsInJournal(statement: Statement, before: ChainedEvent[]): Finding[] {
  const { approvals } = statement;
  const [first] = before;
  if (!first) return [];
  const isWhole = isBeginning(first);
  const known = approvals.flatMap((approval) => {
    const event = before.findLast((each) => decides(each, approval.user));
    return event || isWhole ? [{ approval, event }] : [];
  });
  const problems = [
    ...known.flatMap(({ approval, event }) => [...checkLastOne(approval, event), ...checkKey(approval, before, isWhole)]),
    ...before.filter((event, index) => isOmitted(statement, event, before.slice(index + 1))).map(omitted),
  ];
  if (problems.length > 0 || known.length === 0) return problems;
  const users = parties(known.map(({ approval }) => approval.user));
  return [holds(`The journal has the same approvals as the last ones before the run: ${users}.`)];
}

/**
 * Returns whether given events before a run show the last decision of each user whose approval the run needed. Without that, an
 * approval that was withdrawn could pass for one that counted.
 */
export const showsDecisions = (statement: Statement, before: ChainedEvent[]) =>
  neededUsers(statement).every((user) => before.some((event) => decides(event, user)));

/**
 * Checks that the journal which each approver saw is the beginning of the given one: that the event which an approval names is in it,
 * before the approval.
 * @param before the given events before the run, oldest first. The first ones may be missing
 */
export function checkHeads({ approvals }: Statement, before: ChainedEvent[]): Finding[] {
  return approvals.flatMap(({ user, journal_head: head }) => {
    if (head === null) return [];
    const what = `The newest event that ${party(user)} saw before approving, ${quoted(head.id)},`;
    const [number, first] = [numberOf(head.id), before[0] && numberOf(before[0].id)];
    const missing = `${what} is not among the given events, so it was not checked whether this is the journal that the user saw.`;
    if (number !== undefined && (first === undefined || number < first)) return [unchecked(missing)];
    const place = before.findIndex(({ id, hash }) => id === head.id && hash === head.hash);
    const approval = before.findLastIndex((event) => event.event_type === 'approved' && event.originator === user);
    const other = `${what} is not in the journal before the approval: the user saw another journal.`;
    const same = `${what} is in the journal with the same hash: this is the journal that the user saw.`;
    return [check(place >= 0 && place < approval, same, other)]; // defence
  });
}

const omitted = (event: ChainedEvent) =>
  fails(`The statement lacks the approval of ${party(event.originator)}: ${nameOf(event)}.`);

/**
 * Returns whether an approval in the journal certainly counted when the run started, but is not in the statement. Approvals for
 * certain CVMs may not have counted, because the certificates of these CVMs are not known here, and those for a number of runs may have been used
 * up.
 */
function isOmitted(statement: Statement, event: ChainedEvent, later: ChainedEvent[]): boolean {
  const { event_type, originator: user } = event;
  if (event_type !== 'approved' || statement.approvals.some((each) => each.user === user)) return false;
  const { cvm_ids, max_runs } = limitsOf(detailsOf(event));
  if (cvm_ids || max_runs !== undefined || !countsAt(statement, event, statement.events.started.timestamp)) return false;
  return !later.some((each) => decides(each, user) || (each.event_type === 'key_uploaded' && each.originator === user));
}

/** Returns whether an approval in the journal counts for a run at a time, on the CVMs that it names. @param event of the type `approved` */
export function countsAt(statement: Statement, event: ChainedEvent, time: string): boolean {
  const details = detailsOf(event);
  const { expires_at } = limitsOf(details);
  return (
    details['digest'] === statement.manifest_digest &&
    details['configuration_digest'] === statement.configuration_digest &&
    (statement.approval !== 'all_signed' || details['signed'] === true) &&
    (expires_at === undefined || isBefore(time, expires_at))
  );
}

/**
 * Returns whether an event of the journal gives or ends the approval of a user. A refusal and the removal of a user's key end the
 * approval too.
 */
export function decides(event: ChainedEvent, user: string): boolean {
  const { event_type, originator } = event;
  if (event_type === 'key_removed') return detailsOf(event)['user'] === user;
  return originator === user && ['approved', 'approval_withdrawn', 'approval_refused'].includes(event_type);
}

function checkLastOne(approval: Approval, event: ChainedEvent | undefined): Finding[] {
  const { digest, configuration_digest, signature } = approval;
  const user = party(approval.user);
  if (!event) return [fails(`The journal has no approval of ${user} before the run.`)];
  if (event.event_type !== 'approved') return [fails(`The approval of ${user} was taken back before the run: ${nameOf(event)}.`)];
  const details = detailsOf(event);
  const given = [details['digest'], details['configuration_digest'], details['signed'], limitsOf(details)];
  const stated = [digest, configuration_digest, signature !== null, limitsOf(approval)];
  if (canonicalJson({ of: given }) !== canonicalJson({ of: stated }))
    return [fails(`The last approval of ${user} before the run was another one: ${nameOf(event)}.`)];
  if (isAround(approval.approved_at, event.timestamp)) return [];
  return [fails(`${user} approved at ${quoted(event.timestamp)}, not at ${quoted(approval.approved_at)}: ${nameOf(event)}.`)];
}

/**
 * Checks that an approval was signed by the key that its user had uploaded last before the run. An approval does not count any
 * more when the user has uploaded another key since signing.
 */
function checkKey({ user, key }: Approval, before: ChainedEvent[], isWhole: boolean): Finding[] {
  if (key === null) return [];
  const upload = before.findLast(({ event_type, originator }) => originator === user && event_type === 'key_uploaded');
  if (!upload) return failsIf(isWhole, `${party(user)} signed with a key, but the journal has no upload of one before the run.`);
  const isOther = detailsOf(upload)['fingerprint'] !== fingerprintOf(key);
  return failsIf(isOther, `${party(user)} signed with another key than the last one uploaded before the run: ${nameOf(upload)}.`);
}
