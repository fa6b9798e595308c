import { approvalText, limitsOf } from 'computation-management-formats/consent';
import { canonicalDigest, canonicalJson } from 'computation-management-formats/digests';
import { approvalLevels } from 'computation-management-formats/vocabulary';
import { checkEvidence, type FilesOfTest } from './check-by-test-roots.ts';
import type { Finding } from '../../../packages/verify/finding.ts';
import {
  filesOf,
  genuineEvidence,
  newSigner,
  signedApproval,
  signers,
  type Start,
  type StatedApproval,
} from './genuine-evidence.ts';
import { changedSomewhere, pick, type Random, whole } from './tamperings.ts';

/** A statement of a lying service, and what it shows as the journal. */
export interface Lie {
  what: string;
  statement: Record<string, unknown>;
  /** The statement of an honest service. */
  truth: Record<string, unknown>;
  files: FilesOfTest;
  /** Tells whether the journal is the true one, which a party has kept. */
  isTrueJournal: boolean;
}

/** Keys that the service made for itself. */
const invented = ['alice', 'mallory'].map((user) => ({ ...newSigner('mallory'), user }));

const fingerprints = new Map([...signers, ...invented].map(({ key, fingerprint }) => [key, fingerprint]));

/** The approvals that each of the parties has ever signed, by their texts, by the fingerprint of the key. */
const signedTexts = new Map<string, Map<string, StatedApproval>>(signers.map(({ fingerprint }) => [fingerprint, new Map()]));
function given(signer: (typeof signers)[number], approved: Parameters<typeof signedApproval>[1]): StatedApproval {
  const texts = signedTexts.get(signer.fingerprint);
  const text = approvalText({ ...approved, approver: signer.user });
  const approval = texts?.get(text) ?? signedApproval(signer, approved);
  texts?.set(text, approval);
  return approval;
}

/** Approvals that the parties gave at other times: of other computations, manifests, configurations, machines and until other times. */
function givenElsewhere({ domain, manifest, configuration }: Start): StatedApproval[] {
  const here = {
    domain,
    computation: manifest.id,
    manifest_digest: canonicalDigest(manifest),
    configuration_digest: canonicalDigest(configuration),
  };
  return signers.flatMap((signer) =>
    [
      { ...here, domain: 'd2' },
      { ...here, computation: '00000000-0008-8a7f-a328-c20c0c3f04ec' },
      { ...here, manifest_digest: canonicalDigest({ ...manifest, name: 'Iris 2' }) },
      { ...here, configuration_digest: canonicalDigest({ ...configuration, approval: 'all' }) },
      { ...here, cvm_ids: ['cvm-9'] },
      { ...here, expires_at: '2025-07-17T08:00:01.000Z' },
    ].map((approved) => given(signer, approved)),
  );
}

type Falsify = (start: Start, random: Random, elsewhere: StatedApproval[]) => unknown;

/** The changes that a service may make to what a run was started with, before it signs. */
const falsifications: Record<string, Falsify> = {
  'an approval left out': ({ approvals }, random) => approvals.splice(whole(random, approvals.length), 1),
  'an asset left out': ({ assets }, random) => assets.splice(whole(random, assets.length), 1),
  'an asset and its approval left out': (start, random) => {
    const place = whole(random, start.manifest.datasets.length);
    start.manifest.datasets.splice(place, 1);
    const [asset] = start.assets.splice(place + 1, 1);
    start.approvals = start.approvals.filter(({ user }) => user !== asset?.creator);
  },
  'an approval from elsewhere': ({ approvals }, random, elsewhere) =>
    approvals.splice(whole(random, approvals.length), whole(random, 2), { ...pick(elsewhere, random) }),
  'members exchanged between approvals': ({ approvals }, random, elsewhere) => {
    const [one, other] = [pick(approvals, random), pick([...approvals, ...elsewhere], random)];
    const names = ['user', 'key', 'signature', 'cvm_ids', 'expires_at', 'digest', 'configuration_digest'];
    for (const name of names) if (random() < 0.4) (one as Record<string, unknown>)[name] = other[name];
  },
  'an approval without a signature invented': ({ approvals }, random) =>
    approvals.push({ ...pick(approvals, random), user: pick(['erin', 'alice', 'mallory'], random), signature: null, key: null }),
  'an approval signed by the service': ({ approvals, domain, manifest, configuration }, random) =>
    approvals.push(
      signedApproval(pick(invented, random), {
        domain,
        computation: manifest.id,
        manifest_digest: canonicalDigest(manifest),
        configuration_digest: canonicalDigest(configuration),
      }),
    ),
  'a signature taken away': ({ approvals }, random) => Object.assign(pick(approvals, random), { signature: null, key: null }),
  'a user named otherwise': ({ approvals }, random) =>
    (pick(approvals, random).user = pick(['mallory', 'alice', 'Alice', 'alice" approved', 'erin'], random)),
  'limits made to fit': ({ approvals, cvm_id }, random) =>
    Object.assign(pick(approvals, random), pick([{ cvm_ids: [cvm_id] }, { cvm_ids: null }, { expires_at: null }], random)),
  'digests made to fit': ({ approvals, manifest, configuration }) => {
    for (const each of approvals) {
      each.digest = canonicalDigest(manifest);
      each.configuration_digest = canonicalDigest(configuration);
    }
  },
  'another manifest': ({ manifest }, random) => (manifest.name = pick(['Iris 2', 'Iris 3'], random)),
  'another level': ({ configuration }, random) => (configuration.approval = pick(approvalLevels, random)),
  'other uses': ({ assets }) => assets.forEach((asset) => (asset.use = 'open')),
  'another creator': ({ assets }, random) => (pick(assets, random).creator = pick(['alice', 'carol', 'erin', 'mallory'], random)),
  'another consumer': (start, random) => (start.result_consumers = [pick(['bob', 'mallory'], random)]),
  'another configuration': ({ configuration }) => (configuration.agent_config.attested_tls = false),
  'no policy of attestation': ({ configuration }) => (configuration.attestation_policy = null),
  'another access to logs': ({ configuration }) => (configuration.log_access = 'parties'),
  'another machine': (start, random) => (start.cvm_id = pick(['cvm-2', 'cvm-9'], random)),
  'another computation': ({ manifest }) => (manifest.id = '00000000-0008-8a7f-a328-c20c0c3f04ec'),
  'another domain': (start) => (start.domain = 'd2'),
};

/**
 * Lets the service state what it likes: what a run was started with, falsified one to five times, then perhaps any member. It shows no
 * journal, one that it made to fit, or the true one, where it may state events of its own or those.
 */
export function lie(random: Random): Lie {
  const level = pick(approvalLevels, random);
  let elsewhere: StatedApproval[] = [];
  const creators = pick(
    [
      ['alice', 'bob', 'erin'],
      ['alice', 'bob', 'carol'],
    ],
    random,
  );
  const honest = (start: Start) => start.assets.forEach((asset, place) => (asset.creator = creators[place] ?? ''));
  const truth = genuineEvidence(2, { level, change: honest });
  const names = Array.from({ length: 1 + whole(random, 5) }, () => pick(Object.keys(falsifications), random));
  const lied = genuineEvidence(2, {
    level,
    change: (start) => {
      honest(start);
      const { domain, manifest, configuration } = start;
      for (const { user, cvm_ids, expires_at } of start.approvals) {
        const signer = signers.find((each) => each.user === user);
        const digests = { manifest_digest: canonicalDigest(manifest), configuration_digest: canonicalDigest(configuration) };
        if (signer) given(signer, { domain, computation: manifest.id, ...digests, ...limitsOf({ cvm_ids, expires_at }) });
      }
      elsewhere = givenElsewhere(start);
      for (const name of names) falsifications[name]?.(start, random, elsewhere);
    },
  });
  let { statement } = lied;
  const journal = pick(['none', 'made to fit', 'true', 'true, with its events'], random);
  if (journal === 'true, with its events') statement = { ...statement, events: truth.statement['events'] };
  if (random() < 0.2) {
    const { changed, what } = changedSomewhere(statement, random);
    statement = changed;
    names.push(what);
  }
  const isTrueJournal = journal.startsWith('true');
  const { before, events } = isTrueJournal ? truth : lied;
  const { events: pages, ...files } = filesOf({
    ...lied,
    statement,
    signature: lied.signed(statement),
    events: [...before, ...events],
  });
  return {
    what: `${level}, journal ${journal}: ${names.join(', ')}`,
    statement,
    truth: truth.statement,
    files: { ...files, ...(journal === 'none' ? {} : { events: pages }) },
    isTrueJournal,
  };
}

const signedLine = /^("(?:[^"\\]|\\.)*") approved this manifest and configuration, signed by the key (SHA256:\S{43})\.$/;
const unsignedLine =
  /^("(?:[^"\\]|\\.)*") approved this manifest and configuration without a signature\. The service alone says so\.$/;
const sumLine =
  /^The creators of (?:all assets and all result consumers approved, as the computation demands|the assets that demanded it approved): (?:with a signature ([^;]*?))?(?:; )?(?:by the word of the service alone (.*?))?\.(?: The computation demanded no more\.)?$/;
/** Lines that say nothing of a user's approval, or only what the journal has. */
const otherLines =
  /^The run needed no approval:|^The run was started with this manifest, configuration, assets and approvals: "[^"]*" \(|^The journal has the same approvals as the last ones before the run: /;
const namesIn = (list = '') => [...list.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([name]) => JSON.parse(name) as string);

/** Returns whether the verifier has no objection to a lie: where it rests on the word of the service, which may be true. */
export const isBelieved = async ({ files }: Lie) =>
  (await checkEvidence(files)).every(({ verdict }) => verdict !== 'does not hold');

/** Returns what the verifier says holds of an approval that was not given, in its words. */
export async function wronglyHeld(given: Lie): Promise<string[]> {
  const { statement, files, isTrueJournal } = given;
  const findings = await checkEvidence(files);
  const all = (verdict: Finding['verdict']) => findings.flatMap((each) => (each.verdict === verdict ? [each.sentence] : []));
  const [holding, notes] = [all('holds'), all('note')];
  const signed = holding.flatMap((sentence) => {
    const [, user = '', fingerprint = ''] = signedLine.exec(sentence) ?? [];
    return user === '' ? [] : [{ user: JSON.parse(user) as string, fingerprint, sentence }];
  });
  const unsigned = notes.flatMap((sentence) => {
    const [, user] = unsignedLine.exec(sentence) ?? [];
    return user === undefined ? [] : [JSON.parse(user) as string];
  });
  const neverSigned = signed.filter(({ user, fingerprint }) => {
    const texts = signedTexts.get(fingerprint);
    return texts && !textsOf(statement, user, fingerprint).some((text) => texts.has(text));
  });
  const isWarned = notes.includes('The service alone says whose keys these are. Compare each fingerprint with the user.');
  const sums = holding.map((sentence) => sumLine.exec(sentence)).filter((found) => found !== null);
  const unfounded = sums.filter(
    ([, bySignature, byService]) =>
      !namesIn(bySignature).every((user) => signed.some((each) => each.user === user)) ||
      !namesIn(byService).every((user) => unsigned.includes(user)),
  );
  const unknown = holding.filter(
    (sentence) => sentence.includes('approv') && ![signedLine, sumLine, otherLines].some((line) => line.test(sentence)),
  );
  const isAccepted = all('does not hold').length === 0;
  const isUntrue = isAccepted && isTrueJournal && !isTrue(given);
  return [
    ...neverSigned.map(({ sentence }) => sentence),
    ...(signed.length > 0 && !isWarned ? ['No line says whose word it is that the keys are those of the users.'] : []),
    ...unfounded.map(([sentence]) => sentence),
    ...unknown.map((sentence) => `A line that this test does not know: ${sentence}`),
    ...(isUntrue ? ['Everything holds, although the journal has other approvals.'] : []),
  ];
}

/** The texts of the approvals of a user by a key, as the statement has them. */
function textsOf(statement: Record<string, unknown>, user: string, fingerprint: string): string[] {
  const { domain, computation, manifest_digest, configuration_digest, approvals } = statement as never as Record<
    string,
    string
  > & {
    approvals: StatedApproval[];
  };
  return approvals
    .filter((each) => each.user === user && each.key !== null && fingerprints.get(each.key) === fingerprint)
    .map((each) =>
      approvalText({
        domain: domain ?? '',
        computation: computation ?? '',
        approver: user,
        manifest_digest: manifest_digest ?? '',
        configuration_digest: configuration_digest ?? '',
        ...limitsOf(each),
      }),
    );
}

/**
 * Returns whether a statement has the approvals of the truth, and demands them for the same. No event names the domain, only
 * approvals do.
 */
function isTrue({ statement, truth }: Lie): boolean {
  const names = ['computation', 'manifest', 'configuration', 'assets', 'approval', 'result_consumers', 'approvals'];
  const partsOf = (of: Record<string, unknown>) => canonicalJson(Object.fromEntries(names.map((name) => [name, of[name]])));
  return partsOf(statement) === partsOf(truth);
}
