import { createHash, generateKeyPairSync, randomUUID, sign, constants, type KeyObject } from 'node:crypto';
import { byTestRoots } from '../attestation/by-test-roots.ts';
import {
  approvalText,
  type Configuration,
  configurationOf,
  type JournalHead,
  limitsOf,
} from 'computation-management-formats/consent';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { canonicalDigest, canonicalJson, startDigest } from 'computation-management-formats/digests';
import { numberedId } from 'computation-management-formats/identifiers';
import type { LogProofs } from '../../../packages/verify/statement.ts';
import { parsePublicKey } from 'computation-management-formats/public-key';
import type { ApprovalLevel } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { type Event, type NewEvent, chainedEvent, publicEvent, storedEvent } from '../../../shared/journal/journal.ts';
import { statementSchema } from '../../../shared/evidence/evidence.ts';
import { anEvent } from '../../support/append-to-journal.ts';
import { strictPolicy } from '../../support/strict-policy.ts';
import { certificatePem } from '../formats/openssh-keys.ts';
import { coseOf, forgeSnp, messageOf, now, type SnpChange } from '../attestation/forge-snp.ts';
import { logOf, testLog } from './test-log.ts';
import { publicJwkOf } from '../../../shared/evidence/signing-key.ts';

const { verifyToken } = byTestRoots;

const at = (second: number) => new Date(Date.parse('2025-07-17T08:00:00.000Z') + second * 1000).toISOString();

const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };

/** The keys of those who sign, one of each type. Each signs as its holder does (docs/contract.md, section 9). */
const pairs: Record<string, () => { privateKey: KeyObject; publicKey: KeyObject }> = {
  alice: () => generateKeyPairSync('ed25519'),
  bob: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  carol: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
};

/** The holder of a key: the user, base64 of the public key, and how the holder signs. */
export interface Signer {
  user: string;
  key: string;
  fingerprint: string;
  /** @returns base64 */
  sign: (text: string) => string;
}

export function newSigner(user: string): Signer {
  const { privateKey, publicKey } = (pairs[user] ?? (() => generateKeyPairSync('ed25519')))();
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const { algorithm, fingerprint } = parsePublicKey(key);
  const signed = (text: Buffer) => {
    if (algorithm === 'rsa') return sign('sha256', text, { key: privateKey, ...pss });
    return sign(algorithm === 'ed25519' ? null : 'sha256', text, privateKey);
  };
  return { user, key, fingerprint, sign: (text) => signed(Buffer.from(text)).toString('base64') };
}

/** Made once, because that takes long. */
export const signers = Object.keys(pairs).map(newSigner);

/** A key pair of a service: the public key as it is published, and how the service signs a statement. */
export function newServiceKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signed = (statement: object) =>
    sign('sha256', Buffer.from(canonicalJson(statement)), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  return { jwk: publicJwkOf(publicKey.export({ format: 'der', type: 'spki' })), signed };
}

const serviceKey = newServiceKey();

/** The certificate of the CVM. The report data of its token are the SHA-512 of this text. */
const certificate = certificatePem;

/** A token of a machine of the test keys over the certificate of the CVM, and the roots of its chain. */
export function aToken(changed?: (report: Buffer) => void, more: SnpChange = {}) {
  const change = (report: Buffer) => {
    createHash('sha512').update(certificate).digest().copy(report, 0x50);
    changed?.(report);
  };
  const { report, certificates, options } = forgeSnp({ ...more, report: change });
  const token = Buffer.from(coseOf({ platform_type: 'SNP', raw_report: messageOf(report, certificates) }));
  return { token, roots: [...(options.roots ?? [])] };
}

const attested = aToken();
/** The checks of a service's verdict on the token, which all passed. */
const checksOfSnp = (
  await verifyToken(attested.token, {
    boundTo: { certificate },
    now,
    roots: attested.roots,
  })
).checks;

/** The hash of a token, as a statement has it. */
export const hashOfToken = (token: Uint8Array) => createHash('sha256').update(token).digest('hex');

/** The members that a statement has of a token, and the token itself. */
export type StatedToken = { token: Uint8Array } & Record<string, unknown>;

/** Makes what a service states of tokens: it verified each, if nothing else is given. */
function attestationOf(tokens: StatedToken[]) {
  const stated = tokens.map(({ token, ...members }) => ({
    kind: 'eat',
    hash: hashOfToken(token),
    verdict: 'verified',
    verified_at: at(0),
    collateral: [] as object[],
    ...members,
  }));
  const verdict = ['refused', 'verified', 'unsupported'].find((each) => stated.some((token) => token.verdict === each));
  return { verdict, checks: checksOfSnp, tokens: stated };
}

export interface StatedApproval extends Record<string, unknown> {
  user: string;
  digest: string;
  configuration_digest: string;
  cvm_ids: string[] | null;
  expires_at: string | null;
  max_runs: number | null;
  use: number | null;
  approval_id: string | null;
  signature: string | null;
  key: string | null;
  journal_head: JournalHead | null;
  approved_at: string;
}

export interface Genuine {
  statement: Record<string, unknown>;
  signature: string;
  key_id: string;
  /** The entries of the run in the log, with their proofs. */
  log: LogProofs;
  keys: { keys: object[] };
  /** The events from the first one of the run to its last, oldest first. */
  events: Event[];
  /** The events of the journal before and after these. */
  before: Event[];
  after: Event[];
  /** The tokens that the statement is about. */
  tokens: Uint8Array[];
  /** Tells whether the file of events is a page as the API returns it. Default: a list. */
  isPage?: boolean;
  /** Signs another statement with the same key. */
  signed: (statement: object) => string;
}

/** The start of a run: what it is started with, as its statement says it, and where it runs. */
export interface Start extends Record<string, unknown> {
  domain: string;
  cvm_id: string;
  manifest: {
    id: string;
    name: string;
    description: string;
    datasets: { hash: number[]; user_key: string; filename: string }[];
    algorithm: { hash: number[]; user_key: string };
    result_consumers: { user_key: string }[];
  };
  configuration: Configuration;
  assets: { id: string; creator: string; use: string; checksum: string; key: object | null }[];
  approvals: StatedApproval[];
  result_consumers: string[];
  certificate: string;
}

interface Otherwise {
  /** The identifier of the run. */
  run?: string;
  /** The users whose approval the computation demands. Default: `none`. */
  level?: ApprovalLevel;
  /** Changes the configuration, before the users approve it. */
  configure?: ((configuration: Configuration) => void) | undefined;
  /** Changes what the run is started with. */
  change?: (start: Start) => void;
  /** Changes the events before the run. */
  changeBefore?: (events: NewEvent[]) => void;
  /** The tokens of the agent process, as the service states them. Default: one that satisfies the policy. */
  tokens?: StatedToken[];
  /** Changes the hashes of tokens that the event which ends the run names. */
  frozen?: (hashes: string[]) => string[] | undefined;
  /** The part of each event of the run that the CVM reports, or that of each one by its place. */
  duringRun?: Parameters<typeof anEvent>[0] | Parameters<typeof anEvent>[0][];
}

const ids = new Map<number, string>();
/** Returns the identifier of an event, which is the same in all evidence that is made. */
function idOfEvent(number: number): string {
  const id = ids.get(number) ?? numberedId(number);
  ids.set(number, id);
  return id;
}

const [computation, onlyRun] = [numberedId(7), numberedId(42)];
const checksums = ['algorithm', 'dataset 1', 'dataset 2'].map((content) => createHash('sha3-256').update(content).digest());

/** An approval as it is stated, signed with its limits. */
export function signedApproval(
  { user, key, sign }: Signer,
  approved: Omit<Parameters<typeof approvalText>[0], 'approver'>,
): StatedApproval {
  const { manifest_digest, configuration_digest, cvm_ids = null, expires_at = null, journal_head = null } = approved;
  const { max_runs = null, approval_id = null } = approved;
  const signature = sign(approvalText({ ...approved, approver: user }));
  const limits = { cvm_ids, expires_at, max_runs, use: max_runs, approval_id, journal_head };
  return { user, digest: manifest_digest, configuration_digest, ...limits, signature, key, approved_at: at(0) };
}

function startOf(level: ApprovalLevel, configure?: Otherwise['configure']): Start {
  const [ofAlgorithm, ...ofDatasets] = checksums.map((checksum) => ({ hash: [...checksum], user_key: 'MCowBQYDK2VwAyEA' }));
  if (!ofAlgorithm) throw new TypeError('There is no algorithm.');
  const manifest = {
    id: computation,
    name: 'Iris',
    description: 'Sépalen und Petalen',
    datasets: ofDatasets.map((dataset, index) => ({ ...dataset, filename: `iris-${index}.csv` })),
    algorithm: ofAlgorithm,
    result_consumers: [{ user_key: signers[0]?.key ?? '' }],
  };
  const configuration = configurationOf({
    agent_config: { attested_tls: true },
    approval: level,
    attestation_policy: {
      ...strictPolicy,
      platforms: ['snp', 'tdx'],
      minimum_tcb: { bootloader: 3, tee: 0, snp: 8, microcode: 115, fmc: null },
    },
    log_access: 'none',
    result_review: null,
  });
  configure?.(configuration);
  const digests = { manifest_digest: canonicalDigest(manifest), configuration_digest: canonicalDigest(configuration) };
  const limits: object[] = [{}, { cvm_ids: ['cvm-1', 'cvm-2'] }, { cvm_ids: ['cvm-1'], expires_at: at(3600) }];
  const approvals = signers.map((signer, index) =>
    signedApproval(signer, { domain: 'd1', computation, ...digests, ...limits[index] }),
  );
  const creators = ['alice', 'bob', 'erin'];
  return {
    domain: 'd1',
    cvm_id: 'cvm-1',
    manifest,
    configuration,
    assets: checksums.map((checksum, index) => ({
      id: randomUUID(),
      creator: creators[index] ?? '',
      use: index < 2 ? 'approval' : 'open',
      checksum: checksum.toString('hex'),
      key: null,
    })),
    approvals: [...approvals, ...approvals.slice(0, 1).map(unsigned)],
    result_consumers: ['alice'],
    certificate,
  };
}

const unsigned = (approval: StatedApproval) => ({ ...approval, user: 'dave', signature: null, key: null, approved_at: at(1) });

/** The events before a run: the keys of the signers, and the approvals as they are stated. */
function eventsBefore({ approvals }: Start): NewEvent[] {
  return [
    anEvent({ event_type: 'created', originator: 'alice', details: { name: 'Iris' } }),
    ...signers.map(({ user, fingerprint }) =>
      anEvent({ event_type: 'key_uploaded', originator: user, details: { fingerprint }, lifecycle: false }),
    ),
    ...approvals.map((approval) => {
      const { user, digest, configuration_digest, signature } = approval;
      const details = { digest, configuration_digest, signed: signature !== null, ...limitsOf(approval) };
      return anEvent({ event_type: 'approved', originator: user, details, lifecycle: false });
    }),
  ];
}

/**
 * Makes evidence as the service does, by its own code: of a run with approvals of every kind and `events` events in the journal
 * between its first and its last.
 */
export function genuineEvidence(events = 8, otherwise: Otherwise = {}): Genuine {
  const {
    run = onlyRun,
    level = 'none',
    change,
    changeBefore,
    duringRun,
    tokens = [{ token: attested.token }],
    frozen = (hashes: string[]) => hashes,
  } = otherwise;
  const attestation = attestationOf(tokens);
  const start = startOf(level, otherwise.configure);
  change?.(start);
  const { domain, cvm_id, ...started } = start;
  const { manifest, configuration } = start;
  const approval = configuration.approval;
  const digests = { manifest_digest: canonicalDigest(manifest), configuration_digest: canonicalDigest(configuration) };
  const ofRun = { run_id: run, cvm_id };
  const before = eventsBefore(start);
  changeBefore?.(before);
  const details = { ...digests, start_digest: startDigest({ ...started, approval }) };
  const fromStart = [
    anEvent({ ...ofRun, event_type: 'started', originator: 'alice', details }),
    ...Array.from({ length: events }, (_, index) =>
      anEvent({
        ...ofRun,
        status: `Step${index}`,
        details: { index },
        ...(Array.isArray(duringRun) ? duringRun[index] : duringRun),
      }),
    ),
    anEvent({
      ...ofRun,
      event_type: 'completed',
      originator: 'system',
      status: 'success',
      details: { reason: 'Done.', token_hashes: frozen(attestation.tokens.map(({ hash }) => hash)) },
    }),
    anEvent({ event_type: 'updated', originator: 'alice', lifecycle: false }),
  ];
  let previous: Uint8Array | undefined;
  const journal = [...before, ...fromStart].map((event, index) => {
    const second = index < before.length ? Math.min(index, 1) : index - before.length + 2;
    const chained = chainedEvent({ ...storedEvent(event, index + 1, at(second)), id: idOfEvent(index + 1) }, previous);
    previous = chained.hash;
    return publicEvent(chained);
  });
  const ofThisRun = journal.slice(before.length, -1);

  const stated = {
    type: 'computation-evidence:v1',
    domain,
    computation: manifest.id,
    run: {
      id: run,
      computation_id: manifest.id,
      cvm_id,
      status: 'completed',
      started_at: at(2),
      ended_at: at(events + 3),
      started_by: 'alice',
      reason: 'Done.',
      reason_code: null,
      ...digests,
    },
    ...started,
    approval,
    ...digests,
    events: { started: ofThisRun[0], last: ofThisRun.at(-1) },
    attestation,
    certificate_fingerprint: fingerprintOfCertificate(certificate),
    log: { origin: testLog.origin, vkey: testLog.vkey },
    service_version: '0.1.0',
    issued_at: at(events + 4),
  };
  const statement: Record<string, unknown> = change ? stated : v.parse(statementSchema, stated); // a service that lies has no schema
  const { jwk, signed } = serviceKey;
  return {
    statement,
    signature: signed(statement),
    key_id: jwk.kid,
    log: logOf(statement),
    keys: { keys: [{ kty: 'RSA', n: 'AQAB', e: 'AQAB' }, jwk] },
    events: ofThisRun,
    before: journal.slice(0, before.length),
    after: journal.slice(-1),
    tokens: tokens.map(({ token }) => token),
    signed,
  };
}

/** Returns the files as a user has them, with the events newest first. @param total the count that a page of events has */
export function filesOf(
  { statement, signature, key_id, log, keys, events, tokens, isPage = false }: Omit<Genuine, 'signed' | 'before' | 'after'>,
  total = events.length,
): { evidence: string; keys: string; events: string[]; tokens: Uint8Array[]; roots: Uint8Array[] } {
  const newestFirst = events.toReversed();
  return {
    evidence: JSON.stringify({ statement, signature, key_id, log }),
    keys: JSON.stringify(keys),
    events: [JSON.stringify(isPage ? { events: newestFirst, limit: 100, offset: 0, total } : newestFirst)],
    tokens,
    roots: attested.roots,
  };
}
