import { createHash } from 'node:crypto';
import { canonicalDigest } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import { decisionText, outcomeOf } from 'computation-management-formats/consent';
import { type Event, chainedEvent, publicEvent, storedEvent } from '../../../shared/journal/journal.ts';
import type { ResultStatement } from '../../../packages/verify/statement.ts';
import { anEvent } from '../../support/append-to-journal.ts';
import { filesOf, type Genuine, genuineEvidence, newSigner, signedApproval, type Signer, signers } from './genuine-evidence.ts';
import { logOfResult, testLog } from './test-log.ts';

/** The reviewers of the results that are made here, each with a key in the manifest. */
export const reviewers = ['rita', 'ralf', 'rosa'].map(newSigner);
const consumers = ['alice', 'carol'];

const checksum = createHash('sha3-256').update('the result').digest('hex');
const asset = numberedId(77);

type Decided = [reviewer: number, decision: 'release' | 'withhold', isSigned?: boolean];

interface Options {
  needed?: number;
  level?: 'none' | 'all_signed';
  decisions?: Decided[];
}

/** A run with a review of its result, the statement about the result, and the journal up to the end of the review, oldest first. */
export interface GenuineResult {
  made: Genuine;
  statement: ResultStatement;
  journal: Event[];
}

/** Returns a decision on the result of a run as its statement has it. */
export function decisionOf(
  { user, key, sign }: Signer,
  of: Pick<ResultStatement, 'domain' | 'computation' | 'run' | 'manifest_digest' | 'checksum'>,
  { decision, note = `By ${user}.`, isSigned = true }: { decision: 'release' | 'withhold'; note?: string; isSigned?: boolean },
): ResultStatement['decisions'][number] {
  const { domain, computation, run, manifest_digest, checksum } = of;
  const text = decisionText({ domain, computation, run, reviewer: user, manifest_digest, checksum, decision, note });
  const signed = isSigned ? { signature: sign(text), key } : { signature: null, key: null };
  return { reviewer: user, decision, note, decided_at: '2025-07-17T09:00:00.000Z', checksum, ...signed };
}

/** Makes the evidence of a completed run whose result was reviewed, as the service does. */
export function genuineResult({ needed = 2, level = 'none', decisions = [] }: Options = {}): GenuineResult {
  const result_review = { reviewers: reviewers.map(({ user }) => user), needed, consumers };
  const made = genuineEvidence(2, {
    level,
    configure: (configuration) => Object.assign(configuration, { result_review }),
    change: (start) => {
      start.manifest.result_consumers = reviewers.map(({ key }) => ({ user_key: key }));
      start.result_consumers = [...consumers];
      start.assets.forEach((asset, place) => (asset.creator = ['alice', 'bob', 'carol'][place] ?? ''));
      const approved = {
        domain: start.domain,
        computation: start.manifest.id,
        manifest_digest: canonicalDigest(start.manifest),
        configuration_digest: canonicalDigest(start.configuration),
      };
      // The manifest has other receivers than those that the approvals were made for.
      start.approvals = [...signers, ...reviewers].map((signer) => signedApproval(signer, approved));
    },
    changeBefore: (events) =>
      events.splice(
        1,
        0,
        ...reviewers.map(({ user, fingerprint }) =>
          anEvent({ event_type: 'key_uploaded', originator: user, details: { fingerprint }, lifecycle: false }),
        ),
      ),
  });
  const { domain, computation, manifest_digest, configuration_digest, run } = made.statement as never as {
    domain: string;
    computation: string;
    manifest_digest: string;
    configuration_digest: string;
    run: { id: string; cvm_id: string };
  };
  const of = { domain, computation, run: run.id, manifest_digest, checksum };
  const decided = decisions.flatMap(([place, decision, isSigned = true]) => {
    const signer = reviewers[place];
    return signer ? [decisionOf(signer, of, { decision, isSigned })] : [];
  });
  const state = outcomeOf(result_review, decided) ?? 'released';
  const ofRun = { status: 'success', lifecycle: false, run_id: run.id, cvm_id: run.cvm_id };
  const [originator, size] = [reviewers[0]?.user ?? '', 10];
  const events = [
    anEvent({ ...ofRun, event_type: 'result_submitted', originator, details: { asset, file_name: 'r.zip', checksum, size } }),
    ...decided.map(({ reviewer, decision, note, signature }) => {
      const details = { asset, checksum, decision, note, signed: signature !== null };
      return anEvent({ ...ofRun, event_type: 'result_decided', originator: reviewer, details });
    }),
    anEvent({ ...ofRun, event_type: `result_${state}`, originator: 'system', details: { asset, checksum } }),
  ];
  const journal = [...made.before, ...made.events, ...made.after];
  for (const event of events) {
    const number = journal.length + 1;
    const stored = { ...storedEvent(event, number, '2025-07-17T09:00:00.000Z'), id: numberedId(number) };
    journal.push(publicEvent(chainedEvent(stored, Buffer.from(journal.at(-1)?.hash ?? '', 'hex'))));
  }
  const event = journal.at(-1);
  if (!event) throw new TypeError('There is no event.');
  const statement: ResultStatement = {
    type: 'computation-result:v1',
    domain,
    computation,
    run: run.id,
    manifest_digest,
    configuration_digest,
    result_review,
    state,
    asset,
    checksum,
    size,
    decisions: decided,
    event,
    log: { origin: testLog.origin, vkey: testLog.vkey },
    service_version: '0.1.0',
    issued_at: '2025-07-17T09:00:01.000Z',
  };
  return { made, statement, journal };
}

/** Returns a statement about a result as a service returns it, which signs whatever it likes. */
export const signedResult = ({ signed, key_id }: Genuine, statement: ResultStatement) =>
  JSON.stringify({ statement, signature: signed(statement), key_id, log: logOfResult(statement) });

/** Returns the files as a user has them, with the statement about the result. */
export function filesOfResult({ made, journal }: GenuineResult, statement: ResultStatement) {
  return { ...filesOf({ ...made, events: journal }), result: signedResult(made, statement) };
}
