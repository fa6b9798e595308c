import { decisionText } from 'computation-management-formats/consent';
import { describe, expect, it } from 'vitest';
import type { ResultStatement } from '../../../packages/verify/statement.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { checkEvidence } from './check-by-test-roots.ts';
import { newSigner, signers } from './genuine-evidence.ts';
import { decisionOf, filesOfResult, genuineResult, reviewers, signedResult } from './genuine-result.ts';
import { logOfResult } from './test-log.ts';
import { changedSomewhere, pick, type Random, whole } from './tamperings.ts';

const of = (findings: Awaited<ReturnType<typeof checkEvidence>>, verdict: string) =>
  findings.flatMap((each) => (each.verdict === verdict ? [each.sentence] : []));

const released = genuineResult({
  level: 'all_signed',
  decisions: [
    [1, 'withhold'],
    [0, 'release'],
    [2, 'release'],
  ],
});
const withheld = genuineResult({
  needed: 3,
  decisions: [
    [2, 'release', false],
    [0, 'withhold', false],
  ],
});

/** Returns the objections to a statement about the released result, changed and signed again. */
async function objectionsTo(change: (statement: ResultStatement) => unknown, { made, journal, statement } = released) {
  const lied = structuredClone(statement);
  change(lied);
  return of(await checkEvidence(filesOfResult({ made, journal, statement }, lied)), 'does not hold');
}

describe('the check of a statement about a result', () => {
  it('finds that a released result was released by signed decisions of its reviewers', async () => {
    const findings = await checkEvidence(filesOfResult(released, released.statement));
    expect(of(findings, 'does not hold')).toEqual([]);
    const holding = of(findings, 'holds').join('\n');
    for (const line of [
      /The result with the SHA3-256 "[0-9a-f]{64}" was released, with 2 of the 2 releases that it needs from 3 reviewers\./,
      /"ralf" decided to withhold the result, signed by the key SHA256:/,
      /"rita" decided to release the result, signed by the key SHA256:/,
      /It is the result of the run "\S*", and its reviewers and receivers are those of the run\./,
      /The journal has the same file, decisions and end of the review\./,
      /The log "log\.example\/stage" has the end of the review of the result, as the entry 0 of its 1\./,
    ]) {
      expect(holding).toMatch(line);
    }
  });

  it('says whose word a decision without a signature is', async () => {
    const findings = await checkEvidence(filesOfResult(withheld, withheld.statement));
    expect(of(findings, 'does not hold')).toEqual([]);
    expect(of(findings, 'note')).toContain(
      '"rita" decided to withhold the result, without a signature. The service alone says so.',
    );
  });

  it('leaves open who reviews, without the evidence of the run', async () => {
    const { evidence: _, ...files } = filesOfResult(released, released.statement);
    const findings = await checkEvidence({ ...files, evidence: signedResult(released.made, released.statement) });
    expect([of(findings, 'does not hold'), of(findings, 'not checked')]).toEqual([
      [],
      [expect.stringMatching(/^The evidence of the run was not given/)],
    ]);
  });

  it('says once that the keys are the word of the service, and objects to one key of several users', async () => {
    const whose = /^The service alone says whose keys these are\./;
    const { evidence: _, ...files } = filesOfResult(released, released.statement);
    const whole = await checkEvidence(filesOfResult(released, released.statement));
    expect(of(whole, 'note').filter((sentence) => whose.test(sentence))).toHaveLength(1);
    const mallory = newSigner('mallory');
    const forged = structuredClone(released.statement);
    forged.decisions = forged.decisions.map(({ reviewer, decision }) =>
      decisionOf({ ...mallory, user: reviewer }, forged, { decision }),
    );
    const alone = await checkEvidence({ ...files, evidence: signedResult(released.made, forged) });
    expect(of(alone, 'note')).toContainEqual(expect.stringMatching(whose));
    expect(of(alone, 'does not hold')).toEqual([
      expect.stringMatching(/^One key signed for two users, "ralf" and "rita"/),
      expect.stringMatching(/^One key signed for two users, "ralf" and "rosa"/),
    ]);
    const [alice] = signers;
    if (!alice) throw new TypeError('There is no signer.');
    expect(
      await objectionsTo(
        (given) => (given.decisions[0] = decisionOf({ ...alice, user: 'ralf' }, given, { decision: 'withhold' })),
      ),
    ).toContainEqual(expect.stringMatching(/^One key signed for two users, "alice" and "ralf"/));
  });

  it('notes that the evidence of a reviewed run comes without the statement about its result', async () => {
    const { result: _, ...files } = filesOfResult(released, released.statement);
    expect(of(await checkEvidence(files), 'note')).toContainEqual(expect.stringMatching(/^The result of the run has a review\./));
  });

  it('objects to a run whose receivers are not its reviewers, or not those of the configuration', async () => {
    const { made } = released;
    for (const [change, line] of [
      [
        (statement: never) => (statement as { result_consumers: string[] }).result_consumers.pop(),
        /^The result consumers are not those that/,
      ],
      [
        (statement: never) => (statement as { manifest: { result_consumers: unknown[] } }).manifest.result_consumers.pop(),
        /^The reviewers are not those of the manifest/,
      ],
    ] as const) {
      const statement = structuredClone(made.statement);
      change(statement as never);
      const evidence = JSON.stringify({ statement, signature: made.signed(statement), key_id: made.key_id, log: made.log });
      const findings = await checkEvidence({ ...filesOfResult(released, released.statement), evidence });
      expect(of(findings, 'does not hold')).toContainEqual(expect.stringMatching(line));
    }
  });

  const signer = newSigner('mallory');
  it.each<[string, (statement: ResultStatement) => unknown, RegExp]>([
    ['another state', (given) => (given.state = 'withheld'), /do not fit: state/],
    ['a decision less', (given) => given.decisions.pop(), /do not fit: state/],
    ['a decision twice', (given) => given.decisions.push(structuredClone(given.decisions[0] as never)), /do not fit: decisions/],
    [
      'a decision of another user',
      (given) => given.decisions[0] && (given.decisions[0].reviewer = 'alice'),
      /do not fit: decisions/,
    ],
    ['another file', (given) => (given.checksum = 'a'.repeat(64)), /do not fit: decisions\.checksum/],
    ['other reviewers', (given) => (given.result_review.reviewers[1] = 'mallory'), /What differs: result_review/],
    ['fewer releases', (given) => ((given.result_review.needed = 1), given.decisions.pop()), /What differs: result_review/],
    [
      'a signature less',
      (given) => Object.assign(given.decisions[1] ?? {}, { signature: null, key: null }),
      /demands signed decisions/,
    ],
    [
      'a decision by the key of somebody else',
      (given) =>
        (given.decisions[1] = { ...decisionOf({ ...signer, user: 'rita' }, given, { decision: 'release' }), reviewer: 'rita' }),
      /"rita" signed the decision with a key other than/,
    ],
    ['another note', (given) => given.decisions[1] && (given.decisions[1].note = 'x'), /The signature of "rita" does not fit/],
    ['another size', (given) => (given.size = 11), /The journal has another file/],
    [
      'a decision long before its event',
      (given) => given.decisions[0] && (given.decisions[0].decided_at = '2025-07-17T08:30:00.000Z'),
      /The journal has .* at other times/,
    ],
    [
      'a decision before the end of the run',
      (given) => given.decisions[0] && (given.decisions[0].decided_at = '2025-07-17T07:00:00.000Z'),
      /What differs: decisions\.decided_at/,
    ],
    ['a member more', (given) => Object.assign(given, { approved: true }), /"approved", which nobody checks/],
    ['another run', (given) => (given.run = given.computation), /What differs: run/],
    ['another event', (given) => (given.event.timestamp = '2025-07-17T09:00:02.000Z'), /was changed: its hash is not/],
  ])('objects to %s', async (_, change, line) => {
    expect(await objectionsTo(change)).toContainEqual(expect.stringMatching(line));
  });

  it('objects to a statement that another key has signed, and to the entry of another event in the log', async () => {
    const files = filesOfResult(released, released.statement);
    const forged = files.result.replace(/("signature":")..([^"]*","key_id")/, '$1AA$2');
    expect(of(await checkEvidence({ ...files, result: forged }), 'does not hold')).toEqual([
      expect.stringMatching(/^The signature does not fit/),
    ]);
    const log = logOfResult({ ...released.statement, event: { hash: 'ab'.repeat(32) } });
    const result = JSON.stringify({ ...(JSON.parse(files.result) as object), log });
    expect(of(await checkEvidence({ ...files, result }), 'does not hold')).toEqual([
      expect.stringMatching(/does not prove the run/),
    ]);
  });
});

const invented = ['rita', 'ralf', 'rosa'].map((user) => ({ ...newSigner('mallory'), user }));
type Falsify = (statement: ResultStatement, random: Random) => unknown;
const falsifications: Falsify[] = [
  (statement) => (statement.state = statement.state === 'released' ? 'withheld' : 'released'),
  ({ decisions }, random) => decisions.splice(whole(random, decisions.length), 1),
  ({ decisions }, random) => decisions.reverse().splice(0, whole(random, 2)),
  (statement, random) => {
    const isSigned = random() < 0.7;
    const made = decisionOf(pick(invented, random), statement, { decision: pick(['release', 'withhold'], random), isSigned });
    statement.decisions.splice(whole(random, statement.decisions.length + 1), whole(random, 2), made);
  },
  ({ decisions }, random) => decisions[0] && (pick(decisions, random).decision = pick(['release', 'withhold'], random)),
  ({ decisions }, random) => decisions[0] && (pick(decisions, random).reviewer = pick(['rita', 'ralf', 'rosa', 'alice'], random)),
  ({ decisions }, random) => decisions[0] && Object.assign(pick(decisions, random), { signature: null, key: null }),
  ({ decisions }, random) => decisions[0] && (pick(decisions, random).key = pick(reviewers, random).key),
  ({ result_review }, random) => (result_review.needed = pick([1, 2, 3], random)),
  ({ result_review }, random) => (result_review.reviewers = pick([['rita'], ['rosa', 'ralf', 'rita']], random)),
  (statement, random) => {
    statement.checksum = pick(['a'.repeat(64), statement.manifest_digest], random);
    if (random() < 0.5) for (const each of statement.decisions) each.checksum = statement.checksum;
  },
];

const lies = amount({ sample: 20, full: 1_000 });

describe(`a service that states what it likes of a result (seed ${sampleSeed})`, () => {
  it('gets no decision held that its reviewer did not sign, and under all_signed none at all', async () => {
    const random = seededRandom(sampleSeed);
    const textOf = (given: ResultStatement, decided: ResultStatement['decisions'][number]) =>
      `${decided.key ?? ''} ${decisionText({ ...given, ...decided })}`;
    for (let count = 0; count < lies; count += 1) {
      const truth = random() < 0.6 ? released : withheld;
      const signed = new Set(truth.statement.decisions.map((each) => textOf(truth.statement, each)));
      const lied = structuredClone(truth.statement);
      for (let times = 1 + whole(random, 3); times > 0; times -= 1) pick(falsifications, random)(lied, random);
      if (random() < 0.2) Object.assign(lied, changedSomewhere({ ...lied }, random).changed);
      const { events, ...files } = filesOfResult(truth, lied);
      const findings = await checkEvidence({ ...files, ...(random() < 0.5 && { events }) });
      if (of(findings, 'does not hold').length > 0) continue;
      const notes = of(findings, 'note').join('\n');
      const isSigned = lied.decisions.some(({ key }) => key !== null);
      expect([lied, notes.includes('whose keys these are') || !isSigned]).toEqual([lied, true]);
      for (const each of lied.decisions) {
        const isWarned = notes.includes(`"${each.reviewer}" decided to ${each.decision} the result, without a signature.`);
        expect([lied, signed.has(textOf(lied, each)), each.key === null && truth === withheld && isWarned]).toContainEqual(true);
      }
      const releases = lied.decisions.filter(({ decision }) => decision === 'release').length;
      expect([lied, releases >= truth.statement.result_review.needed]).toEqual([lied, lied.state === 'released']);
    }
  });
});
