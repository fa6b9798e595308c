import { createHash, generateKeyPairSync, randomUUID, sign, constants, type KeyObject } from 'node:crypto';
import { approvalText, type Configuration, configurationOf, limitsOf } from 'computation-management-formats/approval-text';
import { canonicalJson } from 'computation-management-formats/canonical-json';
import { canonicalDigest, startDigest } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import { parsePublicKey } from 'computation-management-formats/public-key';
import type { ApprovalLevel } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import type { Event, NewEvent } from '../../../shared/events/event.ts';
import { chainedEvent, publicEvent, storedEvent } from '../../../shared/events/stored-journal.ts';
import { statementSchema } from '../../../shared/evidence/evidence.ts';
import { publicJwkOf } from '../../../shared/evidence/es256.ts';
import { anEvent } from '../../support/append-to-journal.ts';

const at = (second: number) => new Date(Date.parse('2025-07-17T08:00:00.000Z') + second * 1000).toISOString();

/** Signs as the holder of each type of key does (docs/contract.md, section 9). */
const signers: Record<
  string,
  { key: () => { privateKey: KeyObject; publicKey: KeyObject }; sign: (text: Buffer, key: KeyObject) => Buffer }
> = {
  alice: { key: () => generateKeyPairSync('ed25519'), sign: (text, key) => sign(null, text, key) },
  bob: { key: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }), sign: (text, key) => sign('sha256', text, key) },
  carol: {
    key: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
    sign: (text, key) => sign('sha256', text, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
  },
};

export interface Genuine {
  statement: Record<string, unknown>;
  signature: string;
  key_id: string;
  keys: { keys: unknown[] };
  /** From the first event of the run to its last, oldest first. */
  events: Event[];
  /** The events of the journal before and after these. */
  before: Event[];
  after: Event[];
  /** Whether the file of events is a page as the API returns it. Default: a list. */
  isPage?: boolean;
  /** Signs another statement with the same key. */
  signed: (statement: object) => string;
}

/** What a run is started with, as its statement says it. */
type Start = Record<'manifest' | 'assets' | 'approvals' | 'approval' | 'result_consumers', unknown> & {
  configuration: Configuration;
};

interface Otherwise {
  /** Whose approval the computation demands. Default: `none`. */
  level?: ApprovalLevel;
  /** Changes what the run is started with. */
  change?: (start: Start) => void;
  /** Changes the events before the run. */
  changeBefore?: (events: NewEvent[]) => void;
  /** What the CVM reports in each event of the run. */
  duringRun?: Parameters<typeof anEvent>[0];
}

/**
 * Makes evidence as the service does, by its own code: of a run with approvals of every kind and `events` events in the journal
 * between its first and its last.
 */
export function genuineEvidence(events = 8, { level = 'none', change, changeBefore, duringRun }: Otherwise = {}): Genuine {
  const [computation, run] = [numberedId(7), numberedId(42)];
  const ofSigners = new Map(Object.entries(signers).map(([user, { key }]) => [user, key()]));
  const keyOfAlice = ofSigners.get('alice')?.publicKey.export({ format: 'der', type: 'spki' }).toString('base64') ?? '';
  const checksums = ['algorithm', 'dataset 1', 'dataset 2'].map((content) => createHash('sha3-256').update(content).digest());
  const [ofAlgorithm, ...ofDatasets] = checksums.map((checksum) => ({ hash: [...checksum], user_key: 'MCowBQYDK2VwAyEA' }));
  const manifest = {
    id: computation,
    name: 'Iris',
    description: 'Sépalen und Petalen',
    datasets: ofDatasets.map((dataset, index) => ({ ...dataset, filename: `iris-${index}.csv` })),
    algorithm: ofAlgorithm,
    result_consumers: [{ user_key: keyOfAlice }],
  };
  const digest = canonicalDigest(manifest);
  const configuration = configurationOf({ agent_config: { attested_tls: true }, approval: level, log_access: 'none' });
  const configuration_digest = canonicalDigest(configuration);
  const limits: Record<string, { cvm_ids?: string[]; expires_at?: string }> = {
    alice: {},
    bob: { cvm_ids: ['cvm-1', 'cvm-2'] },
    carol: { cvm_ids: ['cvm-1'], expires_at: at(3600) },
  };
  const approvals = Object.entries(limits).map(([user, limit]) => {
    const { cvm_ids = null, expires_at = null } = limit;
    const approved = { domain: 'd1', computation, approver: user, manifest_digest: digest, configuration_digest };
    const text = approvalText({ ...approved, ...limit });
    const [signer, pair] = [signers[user], ofSigners.get(user)];
    if (!signer || !pair) throw new TypeError(`${user} has no key.`);
    const { privateKey, publicKey } = pair;
    return {
      user,
      digest,
      configuration_digest,
      cvm_ids,
      expires_at,
      signature: signer.sign(Buffer.from(text), privateKey).toString('base64'),
      key: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
      approved_at: at(0),
    };
  });
  const unsigned = {
    user: 'dave',
    digest,
    configuration_digest,
    cvm_ids: null,
    expires_at: null,
    signature: null,
    key: null,
    approved_at: at(1),
  };
  const creators = ['alice', 'bob', 'erin'];
  const start: Start = {
    manifest,
    configuration,
    assets: checksums.map((checksum, index) => ({
      id: randomUUID(),
      creator: creators[index] ?? '',
      use: index < 2 ? 'approval' : 'open',
      checksum: checksum.toString('hex'),
    })),
    approval: level,
    result_consumers: ['alice'],
    approvals: [...approvals, unsigned],
  };
  change?.(start);

  const ofRun = { run_id: run, cvm_id: 'cvm-1' };
  const beforeRun = [
    anEvent({ event_type: 'created', originator: 'alice', details: { name: 'Iris' } }),
    ...approvals.map(({ user, key }) => {
      const details = { fingerprint: parsePublicKey(key).fingerprint };
      return anEvent({ event_type: 'key_uploaded', originator: user, details, lifecycle: false });
    }),
    ...(start.approvals as (typeof unsigned | (typeof approvals)[number])[]).map((approval) => {
      const details = { digest, configuration_digest, signed: approval.signature !== null, ...limitsOf(approval) };
      return anEvent({ event_type: 'approved', originator: approval.user, details, lifecycle: false });
    }),
  ];
  changeBefore?.(beforeRun);
  const digests = {
    manifest_digest: digest,
    configuration_digest: canonicalDigest(start.configuration),
    start_digest: startDigest({ ...start, manifest }),
  };
  const fromStart = [
    anEvent({ ...ofRun, event_type: 'started', originator: 'alice', details: digests }),
    ...Array.from({ length: events }, (_, index) =>
      anEvent({ ...ofRun, status: `Step${index}`, details: { index }, ...duringRun }),
    ),
    anEvent({ ...ofRun, event_type: 'completed', originator: 'system', status: 'success', details: { reason: 'Done.' } }),
    anEvent({ event_type: 'updated', originator: 'alice', lifecycle: false }),
  ];
  let previous: Uint8Array | undefined;
  const journal = [...beforeRun, ...fromStart].map((event, index) => {
    const second = index < beforeRun.length ? Math.min(index, 1) : index - beforeRun.length + 2;
    const chained = chainedEvent(storedEvent(event, index + 1, at(second)), previous);
    previous = chained.hash;
    return publicEvent(chained);
  });
  const ofThisRun = journal.slice(beforeRun.length, -1);

  const statement = v.parse(statementSchema, {
    type: 'computation-evidence:v1',
    domain: 'd1',
    computation,
    run: {
      id: run,
      computation_id: computation,
      cvm_id: 'cvm-1',
      status: 'completed',
      started_at: at(2),
      ended_at: at(events + 3),
      started_by: 'alice',
      reason: 'Done.',
      manifest_digest: digest,
      configuration_digest: canonicalDigest(start.configuration),
    },
    ...start,
    manifest_digest: digest,
    configuration_digest: canonicalDigest(start.configuration),
    events: { started: ofThisRun[0], last: ofThisRun.at(-1) },
    attestation: null,
    attestation_hash: 'ab'.repeat(32),
    service_version: '1.0.0',
    issued_at: at(events + 4),
  });
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicJwkOf(publicKey.export({ format: 'der', type: 'spki' }));
  const signed = (text: object) =>
    sign('sha256', Buffer.from(canonicalJson(text)), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  return {
    statement,
    signature: signed(statement),
    key_id: jwk.kid,
    keys: { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }, jwk] },
    events: ofThisRun,
    before: journal.slice(0, beforeRun.length),
    after: journal.slice(-1),
    signed,
  };
}

/** Returns the files as a user has them, with the events newest first. @param total the count that a page of events has */
export function filesOf(
  { statement, signature, key_id, keys, events, isPage = false }: Omit<Genuine, 'signed' | 'before' | 'after'>,
  total = events.length,
) {
  const newestFirst = events.toReversed();
  return {
    evidence: JSON.stringify({ statement, signature, key_id }),
    keys: JSON.stringify(keys),
    events: [JSON.stringify(isPage ? { events: newestFirst, limit: 100, offset: 0, total } : newestFirst)],
  };
}
