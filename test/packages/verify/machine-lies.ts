import { createHash } from 'node:crypto';
import { mostKeptTokens } from '../../../shared/rows/attestation.ts';
import type { AttestationPolicy } from 'computation-management-formats/attestation';
import { hashOfEvent } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import type { Event } from '../../../shared/journal/journal.ts';
import { type Finding, exitCodeOf } from '../../../packages/verify/finding.ts';
import { anEvent } from '../../support/append-to-journal.ts';
import { shuffled } from '../../support/seeded-random.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { byTestRoots } from '../attestation/by-test-roots.ts';
import { certificatePem } from '../formats/openssh-keys.ts';
import { checkEvidence, type FilesOfTest } from './check-by-test-roots.ts';
import { filesOf, type Genuine, genuineEvidence, hashOfToken, type Start, type StatedToken } from './genuine-evidence.ts';
import {
  allows,
  at,
  bad,
  certificates,
  current,
  type Documents,
  good,
  isOfMicrosoft,
  isUnsupported,
  isVerified,
  type Machine,
  machines,
  ofOtherRuns,
  ofTdx,
  otherCertificate,
  otherDocuments,
  policies,
  roots,
  unsatisfied,
} from './lying-machines.ts';
import { logOf } from './test-log.ts';
import { pick, type Random, whole } from './tamperings.ts';

/** A token as a service states it, and the truth about its machine. */
interface Told {
  of: Machine;
  documents: Documents[];
  stated: StatedToken & { verified_at: string };
  /** True if an honest service would state the same. */
  isTrue: boolean;
}

/** The ways in which the agent connects again, by what the service makes of it. */
const reconnects = ['never', 'said', 'left out', 'torn out', 'renamed', 'of another run', 'of no run', 'after the end'] as const;

/** The ways in which a service takes something from another run. */
const exchanges = {
  'its tokens given': { isOpen: false },
  'its attestation stated': { isOpen: false },
  'its end': { isOpen: false },
  'its end and attestation': { isOpen: false },
  'its start': { isOpen: false },
  'its events given': { isOpen: false },
  // Without the events, nothing contradicts the hash of an event that the service makes anew.
  'its attestation in an end made anew': { isOpen: true },
};
type Exchange = keyof typeof exchanges;

/** A statement of a service that lies about machines, and what the lab knows of the truth. */
export interface MachineLie {
  what: string;
  files: FilesOfTest;
  policy: AttestationPolicy;
  /** True if no token of the lab satisfies the policy. */
  isForNone: boolean;
  certificate: string;
  /** The machines whose tokens counted when the run ended, as its last event says. Empty if the event does not say it. */
  counted: Machine[];
  told: Told[];
  given: Machine[];
  /** True if the events are given. */
  showsEvents: boolean;
  reconnect: (typeof reconnects)[number];
  exchange: Exchange | undefined;
  /** True if what the service states of tokens, verdicts and their checks is the truth. */
  isTrue: boolean;
}

const start = at(2);
/** The latest time that the verifier takes for one before the end of the run, because clocks differ. */
const end = at(5 + 5 * 60);
const some = <T>(list: readonly T[], random: Random, share: number) => list.filter(() => random() < share);

/** Returns what an honest service states of a token that it verified just before the run. */
function truthOf(of: Machine, documents: Documents[], certificate: string): Told['stated'] {
  const collateral = documents.map((each) => each.collateral);
  if (isOfMicrosoft(of)) return { token: of.token, kind: 'azure', verdict: 'not judged', verified_at: '', collateral };
  const verdict = isVerified(of, certificate, documents, at(0)) ? 'verified' : 'refused';
  return { token: of.token, kind: 'eat', verdict: isUnsupported(of) ? 'unsupported' : verdict, verified_at: at(0), collateral };
}

/** Tells whether a service lies about something, which it does in a share of cases until it has lied often enough. */
type Lies = (share: number) => boolean;

/** Returns Intel's documents that a service states for a machine: mostly those of then. */
function documentsFor({ platform }: Machine, lies: Lies, random: Random): Documents[] {
  if (platform !== 'tdx') return lies(0.04) ? [current] : [];
  if (!lies(0.5)) return [current];
  if (random() < 0.1) return [];
  const others = [pick(otherDocuments, random), pick([current, ...otherDocuments], random)];
  return others.slice(0, random() < 0.8 ? 1 : 2);
}

/** Returns what a service states of a token: the truth, or what it likes. */
function tellOf(of: Machine, certificate: string, lies: Lies, random: Random): Told {
  const documents = documentsFor(of, lies, random);
  const truth = truthOf(of, documents, certificate);
  if (!lies(of.name.startsWith('good') ? 0.2 : 0.6)) return { of, documents, stated: truth, isTrue: true };
  const verdict = pick(['verified', 'refused', 'unsupported', 'not judged', 'not judged'], random);
  const time = pick([at(0), at(1), at(4), at(-40 * 24 * 3_600), at(3_600), at(-365 * 24 * 3_600)], random);
  const kind = pick(['eat', 'azure', 'other'], random);
  const verified_at = verdict === 'not judged' ? '' : time;
  const [first] = documents;
  if (first && random() < 0.5) {
    const then = new Date(Date.parse(first.from) + 1_000).toISOString();
    return { of, documents, stated: { ...truth, verdict: 'verified', verified_at: then }, isTrue: false };
  }
  return { of, documents, stated: { ...truth, verdict, verified_at, kind }, isTrue: false };
}

const checksByToken = new Map<string, Promise<object[]>>();
/** The checks of the verdict on a token as of the time that the service names: those that an honest service states. */
function checksOf({ of, documents, stated: { verified_at } }: Told, certificate: string): Promise<object[]> {
  const key = JSON.stringify([of.name, documents.map(({ name }) => name), certificate, verified_at]);
  const collateral = documents.map((each) => each.collateral);
  const options = { boundTo: { certificate }, now: new Date(verified_at), collateral, certificates, roots };
  const checks = checksByToken.get(key) ?? byTestRoots.verifyToken(of.token, options).then((verdict) => verdict.checks);
  checksByToken.set(key, checks);
  return checks;
}

const usual = [
  ...[[good.snp], [good.snp, good.again], [good.snp, good.tdx], [good.snp, good.vtpm]],
  ...[[good.tdx], [good.tdx], [good.vtpm], [good.vtpm, good.tdx], [good.azure], [good.tdx, good.vtpm, good.snp]],
];
const whole4 = [good.snp, good.again, good.tdx, good.vtpm];
const otherRun = numberedId(43);

/** The events of a reconnect, as the service writes them into the journal between start and end of the run. */
const written: Partial<Record<MachineLie['reconnect'], Parameters<typeof anEvent>[0]>> = {
  said: { event_type: 'Reconnected', originator: 'gateway' },
  'torn out': { event_type: 'Reconnected', originator: 'gateway' },
  renamed: { event_type: 'Running', status: 'Reconnected' },
  'of another run': { event_type: 'Reconnected', originator: 'gateway', run_id: otherRun },
  'of no run': { event_type: 'Reconnected', originator: 'gateway', run_id: '' },
};

const hashes = (of: Machine[]) => of.map(({ token }) => hashOfToken(token));

/**
 * Lets the service lie in none to several ways about the tokens of a run, Intel's documents, its policy, its certificate and its
 * reconnects, and take from another run. Gives the verifier all tokens, some, none, or others.
 */
export async function lieAboutMachines(random: Random): Promise<MachineLie> {
  let left = pick([0, 0, 1, 1, 1, 2, 9], random); // one lie alone shows best whether it is found
  const lies = (share: number) => {
    const isLie = left > 0 && random() < share;
    left -= isLie ? 1 : 0;
    return isLie;
  };
  const certificate = lies(0.15) ? otherCertificate : certificatePem;
  const worse = lies(0.4) ? [pick([...bad, ...ofOtherRuns], random)] : [];
  const usually = !lies(0.04) ? pick(usual, random) : [...whole4, ...(random() < 0.5 ? [good.azure] : [])];
  const repeated = lies(0.05) ? usually.slice(0, 1) : [];
  const stated = shuffled([...usually, ...worse, ...repeated], random).slice(0, mostKeptTokens);
  const hidden = lies(0.2) ? [pick(machines, random)].filter((each) => !stated.includes(each)) : [];
  const told = stated.map((each) => tellOf(each, certificate, lies, random));
  const counted = (lies(0.3) ? pick([stated.slice(1), []], random) : stated).concat(hidden);
  const isForNone = lies(0.3);
  const changed = isForNone ? pick(unsatisfied, random) : random() < 0.5 ? pick(policies, random) : {};
  const policy: AttestationPolicy = {
    ...strictPolicy,
    platforms: ['az-snp-vtpm', 'snp', 'snp-vtpm', 'tdx'],
    measurements: [...strictPolicy.measurements, ofTdx],
    ...changed,
  };
  const reconnect = lies(0.6) ? pick(reconnects, random) : 'never';
  const exchange = lies(0.25) ? pick(Object.keys(exchanges) as Exchange[], random) : undefined;
  const needsNone = random() < 0.5;
  const ofOther = shuffled([...ofOtherRuns, good.again], random).slice(0, 1 + whole(random, 2));
  const toldOfOther = ofOther.map((each) => tellOf(each, certificate, lies, random));
  const isOfSame = random() < 0.5;
  const asStarted = (started: Start) => {
    started.certificate = certificate;
    if (needsNone) started.assets.forEach((asset) => (asset.use = 'open'));
  };
  const made = genuineEvidence(2, {
    tokens: told.map((each) => each.stated),
    frozen: () => (counted.length === 0 ? undefined : hashes(counted)),
    configure: (configuration) => (configuration.attestation_policy = policy),
    change: asStarted,
    changeBefore: (events) => {
      const of = { run_id: otherRun, cvm_id: 'cvm-1' };
      const details = { reason: 'Done.', token_hashes: hashes(ofOther) };
      if (isOfSame)
        events.push(
          anEvent({ ...of, event_type: 'started', originator: 'alice' }),
          anEvent({ ...of, event_type: 'completed', originator: 'system', status: 'success', details }),
        );
    },
    duringRun: [written[reconnect] ?? {}],
  });
  const other = exchange && anotherRun(toldOfOther, asStarted, isOfSame);
  const isOfOther = exchange !== undefined && /attestation/.test(exchange);
  const shown = isOfOther ? toldOfOther : told;
  const statement = takeFrom(other?.statement, made.statement, exchange);
  const attestation = statement['attestation'] as { verdict: string; checks: object[] };
  const count = shown.find((each) => each.stated.verdict === attestation.verdict);
  const isExact = !lies(0.1);
  if (count && isExact) attestation.checks = await checksOf(count, certificate);
  const der = Buffer.from(certificate.replace(/-----.*?-----|\s/g, ''), 'base64');
  statement['certificate_fingerprint'] = createHash('sha256').update(der).digest('hex');
  const isOverridden = lies(0.15);
  if (isOverridden) Object.assign(attestation, { verdict: pick(['verified', 'refused'], random) });
  const isMissing = lies(0.08);
  if (isMissing) statement['attestation'] = null;
  const tokens = shown.map(({ of }) => of);
  const chosen = [
    tokens,
    tokens,
    tokens,
    tokens,
    [...tokens, ...hidden],
    some(tokens, random, 0.5),
    [],
    some(machines, random, 0.2),
  ];
  const given = exchange === 'its tokens given' ? ofOther : pick(chosen, random);
  const showsEvents = exchange === 'its events given' || random() < (reconnect === 'never' ? 0.85 : 0.7);
  const journal = other && exchange === 'its events given' ? [...other.before, ...other.events] : journalOf(made, reconnect);
  const { events, ...files } = filesOf({
    ...made,
    statement,
    signature: made.signed(statement),
    log: logOf(statement),
    events: journal,
  });
  const names = (of: Machine[]) => of.map(({ name }) => name).join(', ');
  const toldOf = shown.map(({ of, documents, stated: { kind, verdict, verified_at } }) => {
    return { of: of.name, documents: documents.map(({ name }) => name), kind, verdict, verified_at };
  });
  const fromOther = exchange ? `; of another run of ${isOfSame ? 'the same' : 'another'} computation: ${exchange}` : '';
  return {
    what: `${JSON.stringify(changed)}, states ${JSON.stringify(toldOf)}; counted: ${names(counted)}; given: ${names(given)}; events: ${showsEvents}; reconnect: ${reconnect}${fromOther}`,
    files: { ...files, tokens: given.map(({ token }) => token), roots, certificates, ...(showsEvents ? { events } : {}) },
    policy,
    isForNone,
    certificate,
    counted,
    told: shown,
    given,
    showsEvents,
    reconnect,
    exchange,
    isTrue: shown.every((each) => each.isTrue) && count !== undefined && isExact && !isOverridden && !isMissing,
  };
}

/** Makes the evidence of a second run, of the same computation or of another one. */
function anotherRun(told: Told[], change: (started: Start) => void, isOfSame: boolean): Genuine {
  return genuineEvidence(2, {
    run: otherRun,
    tokens: told.map((each) => each.stated),
    change: (started) => {
      change(started);
      if (!isOfSame) started.manifest.id = numberedId(8);
    },
  });
}

type Parts = Record<string, unknown>;
const eventsOf = (statement: Parts) => statement['events'] as { started: Event; last: Event };

/** Returns the statement with what the service takes from that of another run. */
function takeFrom(other: Parts | undefined, statement: Parts, exchange: Exchange | undefined): Parts {
  if (!other) return { ...statement };
  const [events, ofOther] = [eventsOf(statement), eventsOf(other)];
  const { attestation } = other;
  const ended = (last: Event) => ({ ...statement, events: { ...events, last } });
  if (exchange === 'its attestation stated') return { ...statement, attestation };
  if (exchange === 'its end') return ended(ofOther.last);
  if (exchange === 'its end and attestation') return { ...ended(ofOther.last), attestation };
  if (exchange === 'its start') return { ...statement, events: { ...events, started: ofOther.started } };
  if (exchange !== 'its attestation in an end made anew') return { ...statement };
  const { hash: _, ...last } = { ...events.last, details: ofOther.last.details };
  return { ...ended({ ...last, hash: hashOfEvent(last) }), attestation };
}

/** Returns the journal as the service shows it. */
function journalOf({ before, events, after }: Genuine, reconnect: MachineLie['reconnect']): Event[] {
  const isTorn = ({ event_type }: Event) => reconnect === 'torn out' && event_type === 'Reconnected';
  const [start, last, late] = [events[0], events.at(-1), after[0]];
  const journal = [...before, ...events.filter((event) => !isTorn(event))];
  if (reconnect !== 'after the end' || !start || !last || !late) return journal;
  const { run_id, cvm_id } = start;
  const { hash: _, ...moved } = { ...late, event_type: 'Reconnected', run_id, cvm_id, previous_hash: last.hash };
  return [...journal, { ...moved, hash: hashOfEvent(moved) }];
}

const satisfied = 'The evidence of the CVM satisfies the attestation policy of the run.';
const known = {
  connection: 'Only the service can know whether the connection that attested got the run and kept it, as the policy demands.',
  guest: 'Only the service can know whether another run used the guest before, which the policy forbids.',
};

/**
 * Returns what is wrong with the findings about a lie. Nothing may hold for a machine that the policy refuses, nor what only the service
 * can know. Without all tokens the policy is not checked, with exit code 3, or something does not hold, with 1.
 */
export async function wronglyBelieved(lie: MachineLie): Promise<{ wrong: string[]; exitCode: 0 | 1 | 3 }> {
  const { policy, certificate, counted, told, given, showsEvents, reconnect, exchange } = lie;
  const findings = await checkEvidence(lie.files);
  const exitCode = exitCodeOf(findings);
  const stated = told.map(({ of }) => of);
  const judged = told.filter(({ of }) => !isOfMicrosoft(of));
  const isAllowed =
    judged.length > 0 && told.length <= 4 && judged.every((each) => allows(policy, certificate, each.of, each.documents, start));
  const isWhole = stated.every((each) => given.includes(each));
  const isSame = (one: Machine[], other: Machine[]) =>
    one.length === other.length && one.every((each) => other.includes(each)) && new Set(one).size === one.length;
  const hasUnneeded = told.some(({ of, documents }) => documents.length > (of.platform === 'tdx' ? 1 : 0));
  const isConsistent = isAllowed && isSame(stated, counted) && exchange === undefined && !hasUnneeded;
  const breaksPolicy = reconnect === 'said' && !policy.allow_reconnect;
  const isContradicted = showsEvents && (breaksPolicy || reconnect === 'torn out');
  const holds = findings.filter(({ verdict }) => verdict === 'holds').map(({ sentence }) => sentence);
  const isSatisfied = holds.includes(satisfied);
  const open = findings.some(({ verdict }) => verdict === 'not checked');
  const isOpen = exchange === undefined || exchanges[exchange].isOpen;
  // Some tokens of the lab are also those of its earlier run.
  const isUsed = !policy.allow_used_guest && findings.some(({ sentence }) => sentence.startsWith('The guest accepted the run '));
  const expected = given.some((each) => !stated.includes(each)) || isContradicted || isUsed ? 1 : isWhole && showsEvents ? 0 : 3;
  const wrong = {
    'The policy holds for a machine that it refuses.': isSatisfied && !isAllowed,
    'A policy holds that no token satisfies.': lie.isForNone && (isSatisfied || exitCode === 0),
    'The policy holds although not all tokens were given.': isSatisfied && !isWhole,
    'Everything holds.': exitCode === 0 && !(isConsistent && isWhole && given.every((each) => stated.includes(each))),
    'Everything holds without the events.': exitCode === 0 && !showsEvents,
    'Everything holds although the agent connected again.': exitCode === 0 && isContradicted,
    'Without tokens nothing is not checked.': given.length === 0 && exitCode !== 1 && !(open && exitCode === 3),
    'A token is of after the end.': exitCode !== 1 && told.some(({ stated }) => stated.verified_at > end),
    'What was taken from another run is not found.': !isOpen && exitCode !== 1,
    [`An honest statement has the exit code ${exitCode}, not ${expected}.`]: lie.isTrue && isConsistent && exitCode !== expected,
  };
  return {
    exitCode,
    wrong: [
      ...Object.entries(wrong).flatMap(([sentence, isSo]) => (isSo ? [sentence] : [])),
      ...knownToService(lie, findings, isSatisfied || exitCode !== 1),
      ...holds.flatMap((sentence) => wrongOfToken(lie, sentence)),
    ],
  };
}

const ofService = /connect|guest|process|same machine|only the service/i;

/** Returns what is wrong with the findings about what only the service can know: it is noted, and never holds. */
function knownToService({ policy }: MachineLie, findings: Finding[], isShown: boolean): string[] {
  const notes = findings.filter(({ verdict }) => verdict === 'note').map(({ sentence }) => sentence);
  const held = findings.filter(
    ({ verdict, sentence }) => verdict === 'holds' && ofService.test(sentence) && !/^The token "\w+" is refused /.test(sentence),
  );
  const lacks = (sentence: string, isAllowed: boolean) => isShown && !isAllowed && !notes.includes(sentence);
  return [
    ...held.map(({ sentence }) => `What only the service can know holds: ${sentence}`),
    ...(lacks(known.connection, policy.allow_reconnect) ? ['It is not noted that the service alone knows of reconnects.'] : []),
    ...(lacks(known.guest, policy.allow_used_guest) ? ['It is not noted that the service alone knows of used guests.'] : []),
  ];
}

/** Returns what is wrong with a sentence that holds about a token: its verdict at each of its times, its platform and measurement. */
function wrongOfToken({ told, certificate }: MachineLie, sentence: string): string[] {
  const found =
    /^The token "(\w+)" is verified as of [^,]*, "([^"]*)": (.*?) made it over (?:.*The service states the same as of "([^"]*)")?/;
  const [, hash = '', ...said] = found.exec(sentence) ?? [];
  if (hash === '') return /is verified as of/.test(sentence) ? [`This is not understood: ${sentence}`] : [];
  const [time = '', machine, stated] = said;
  const isTrue = told.some(
    ({ of, documents }) =>
      hashOfToken(of.token) === hash &&
      machine === `a machine of ${of.platform} with the measurement ${of.measurement}` &&
      [time, stated ?? time].every((each) => isVerified(of, certificate, documents, each)),
  );
  return isTrue ? [] : [`The token ${hash} holds: ${sentence}`];
}
