import * as v from 'valibot';
import { described, namedObject, orNull, shownDescription, shownText } from 'computation-management-formats/fields';
import { cvmId } from 'computation-management-formats/identifiers';
import { createdAt, updatedAt, timestamp } from 'computation-management-formats/timestamps';
import { ServiceError } from '../runtime/errors.ts';
import { parseStored } from '../table/stored.ts';
import type { Item, Table } from '../table/table.ts';
import { type Attestation, attestationSchema, storedAttestation } from './attestation.ts';
import { cvmKeys } from '../table/keys.ts';
import { hasAttributes, setAttributes, setAttributesIf, updateExisting, updateIf, type WriteCondition } from '../table/writes.ts';
import { type Transaction, StaleReadError } from '../table/transaction.ts';
import type { RunReference } from './run.ts';

/** The values of `fit`, by which a CVM reports whether its agent can take a run. */
export const fits = ['ready', 'busy', 'spent', 'unknown'] as const;
type Fit = (typeof fits)[number];

export const presenceSchema = namedObject('Presence', 'Whether a CVM is connected, and whether its agent can take a run.', {
  state: described(
    v.picklist(['connected', 'disconnected']),
    '`connected` if the CVM sent something within the last 60 seconds.',
  ),
  last_seen_at: orNull(
    timestamp,
    'The time when the CVM was last heard. It may lag by up to 60 seconds. null if the CVM was never heard.',
  ),
  agent_state: orNull(shownText(60), 'The state that the agent last reported. null if it reported none.'),
  fit: described(
    v.picklist(fits),
    'Whether the agent can take a run. `ready`: yes. `busy`: it has a run. `spent`: it must be restarted first. `unknown`: the CVM reported this, or never reported `fit`.',
  ),
});
export type Presence = v.InferOutput<typeof presenceSchema>;

/** The connections of a CVM, compared with the one over which its attestation came. */
export const connections = ['attested', 'reconnected'] as const;

/** The longest certificate of a CVM, in characters. */
export const limitOfCertificate = 16 * 1024;

/** The longest `agent_url` of a CVM, in characters: a name of 253 characters, a colon and a port. */
export const longestAgentUrl = 259;

const attestationOfCvm = namedObject(
  'AttestationOfCvm',
  'What the service found in the attestation evidence of the present agent process of a CVM.',
  {
    ...attestationSchema.entries,
    connection: described(
      v.picklist(connections),
      '`attested` while the connection is open over which the evidence came. `reconnected`: it is closed. Then no run with an ' +
        '`attestation_policy` starts on the CVM until its agent is restarted, but for policies that allow reconnects.',
    ),
  },
);

const entries = {
  id: described(cvmId, 'The identifier of the CVM.'),
  description: shownDescription,
  certificate: orNull(
    shownText(limitOfCertificate),
    'The certificate that the CVM presents, in PEM, as it was registered. null if none is registered.',
  ),
  certificate_fingerprint: orNull(
    shownText(64),
    'The SHA-256 of the certificate in DER, 64 hex digits. null if none is registered.',
  ),
  agent_url: orNull(shownText(longestAgentUrl), 'Where parties reach the agent, `host:port`. null if it is not registered.'),
  attestation: orNull(
    attestationOfCvm,
    'The attestation of the present agent process with the present certificate. null until it is known.',
  ),
  created_at: createdAt,
  updated_at: updatedAt,
};

export const cvmSchema = namedObject('Cvm', 'A registered CVM.', { ...entries, presence: presenceSchema });
export type Cvm = v.InferOutput<typeof cvmSchema>;

/** Schema of the item of a registered CVM, without its presence. */
export const storedCvm = v.object({
  ...entries,
  attestation: v.nullable(storedAttestation),
  /** The user who last set or removed the certificate, and when (RFC 3339). */
  certified: v.optional(v.object({ by: v.string(), at: v.string() })),
  /** The SHA-512, hex, of the PEM of the certificate with which a CVM was registered. Attestation evidence is bound to it. */
  certificate_sha512: v.nullable(v.string()),
  /** The SHA-256, hex, of the public key in the certificate of a CVM, as DER SubjectPublicKeyInfo. Null without a certificate. */
  public_key_hash: v.nullable(v.string()),
  /** The number of the CVM in the list of its domain. */
  listed_as: v.number(),
  /** The version of a CVM's registration. Every change of the item increments it, except changes of presence and attestation. */
  version: v.number(),
});
export type StoredCvm = v.InferOutput<typeof storedCvm>;

/** The domain and the identifier that together name a CVM. */
export interface CvmReference {
  domain: string;
  cvmId: string;
}

const certified = v.object({ certificate_fingerprint: v.nullable(v.string()) });

/**
 * Refuses a request by which a CVM speaks for itself if it is registered with a certificate. It proves that it has the key of its
 * certificate to a gateway, whoever it is that asks here.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`. Undefined if the CVM is not registered
 * @throws ServiceError `forbidden`, with `reason: gateway_only`
 */
export function refuseIfAtGateway(id: string, item: Item | undefined): void {
  if (!item || parseStored(certified, item, 'registered CVM').certificate_fingerprint === null) return;
  const detail = `The CVM ${id} is registered with a certificate. It gets its commands and reports through the gateway, with that certificate.`;
  throw new ServiceError('forbidden', detail, { reason: 'gateway_only' });
}

/**
 * Schema of the presence of a CVM: when it was last heard, and the state of its agent. It is stored in the item of the
 * registered CVM.
 */
const storedPresence = v.object({
  last_seen_at: v.optional(v.string()),
  agent_state: v.optional(v.string()),
  fit: v.optional(v.picklist(fits)),
  /** The time when the CVM reported its agent's fitness for a run (`fit`). */
  fit_at: v.optional(v.string()),
  /** The gateway that has the stream of the CVM's agent. While this gateway renews its lease, the CVM counts as heard. */
  held_by: v.optional(v.string()),
  certificate_fingerprint: v.optional(v.nullable(v.string())),
  certificate: v.optional(v.nullable(v.string())),
});
export type StoredPresence = v.InferOutput<typeof storedPresence>;

/**
 * Parses the presence in the item of a registered CVM.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`
 */
export function parsePresence(item: Item): StoredPresence {
  return parseStored(storedPresence, item, 'registered CVM');
}

const connectedForInMilliseconds = 60_000;

/**
 * The time after which the presence of a CVM is written again though it says nothing new. A CVM that is heard every 30 seconds is
 * written at least every 60, so it never looks disconnected.
 */
const writtenAfterInMilliseconds = 30_000;

/**
 * Returns the presence of a CVM as answers show it.
 * @param isHeld whether a run holds the CVM
 */
export function presenceOf(stored: StoredPresence, { isHeld, now }: { isHeld: boolean; now: string }): Presence {
  const { last_seen_at = null, agent_state = null, fit = 'unknown' } = stored;
  const isConnected = last_seen_at !== null && millisecondsBetween(last_seen_at, now) <= connectedForInMilliseconds;
  return {
    state: isConnected ? 'connected' : 'disconnected',
    last_seen_at,
    agent_state,
    fit: isHeld && fit !== 'spent' ? 'busy' : fit,
  };
}

function millisecondsBetween(before: string, after: string): number {
  return Date.parse(after) - Date.parse(before);
}

/** Returns why a run cannot start on a registered CVM that no run holds, as a sentence. Returns undefined if one can start. */
export function whyNotReady(cvmId: string, stored: StoredPresence, now: string): string | undefined {
  const { state, last_seen_at, fit } = presenceOf(stored, { isHeld: false, now });
  if (state === 'disconnected') {
    const since = last_seen_at === null ? 'it was never seen' : `it was last seen at ${last_seen_at}`;
    return `The CVM ${cvmId} is disconnected: ${since}.`;
  }
  return fit === 'spent' ? `The CVM ${cvmId} is spent: restart its agent before the next run.` : undefined;
}

/** The state of a CVM's agent, as a report of the CVM gives it. */
export interface ReportedState {
  agent_state?: string | undefined;
  fit?: Fit | undefined;
}

/**
 * Returns what to store of a CVM's report. Returns undefined if it says nothing new and the last write was less than 30 seconds
 * ago or the gateway `by` has the CVM's stream. `busy` from a gateway does not replace `spent`: it was on its way when the run
 * ended. A restarted agent is `ready` first.
 */
export function presenceToStore(
  stored: StoredPresence,
  { agent_state, fit: saidFit }: ReportedState,
  now: string,
  by?: string,
): StoredPresence | undefined {
  const fit = by !== undefined && saidFit === 'busy' && stored.fit === 'spent' ? undefined : saidFit;
  const saysNew = (agent_state !== undefined && agent_state !== stored.agent_state) || (fit !== undefined && fit !== stored.fit);
  const isHeld = by !== undefined && stored.held_by === by;
  const isDue =
    !isHeld && (stored.last_seen_at === undefined || millisecondsBetween(stored.last_seen_at, now) >= writtenAfterInMilliseconds);
  if (!saysNew && !isDue) return undefined;
  return {
    last_seen_at: now,
    ...(agent_state === undefined ? {} : { agent_state }),
    ...(fit === undefined ? {} : { fit, fit_at: now }),
  };
}

/**
 * Returns whether an agent must be restarted after a run that it accepted at `acceptedAt`. An agent that reported `ready` after
 * that has been restarted. Returns false if the CVM does not report `fit`.
 */
export function isSpentBy({ fit, fit_at = '' }: StoredPresence, acceptedAt: string): boolean {
  return fit === 'busy' || (fit === 'ready' && fit_at <= acceptedAt);
}

interface Heard {
  domain: string;
  cvmId: string;
  now: string;
  by?: string | undefined;
}

/**
 * Stores that a CVM was heard, and what it reported. Writes at most twice a minute if the report says nothing new, and never if
 * its gateway holds the CVM's stream.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`
 */
export async function recordPresence(
  table: Table,
  { domain, cvmId, now, by }: Heard,
  item: Item | undefined,
  reported: ReportedState = {},
): Promise<void> {
  const stored = item && parsePresence(item);
  const changes = stored && presenceToStore(stored, reported, now, by);
  if (!changes) return;
  const key = cvmKeys.cvm(domain, cvmId);
  const update = setAttributes({ ...changes });
  if (by === undefined || changes.fit !== 'busy') await updateExisting(table, key, update);
  else await updateIf(table, key, update, unchangedFit(stored));
}

/**
 * Records that an agent has taken a run. Records an agent that was `ready` as busy, so that it is noticed if it restarts and is
 * `ready` again: then the end of the run does not leave it spent.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`
 */
export async function recordTaken(
  table: Table,
  { domain, cvmId, now }: Heard,
  { item, acceptedAt, reported }: { item: Item | undefined; acceptedAt: string; reported: ReportedState },
): Promise<void> {
  const stored = item && parsePresence(item);
  if (!stored || (reported.fit ?? stored.fit) !== 'ready' || (stored.fit_at ?? '') > acceptedAt) return;
  await updateIf(table, cvmKeys.cvm(domain, cvmId), setAttributes({ fit: 'busy', fit_at: now }), unchangedFit(stored));
}

/**
 * Returns the condition of a write that the fitness of a CVM's agent (`fit`) has not changed since it was read, by another
 * report or the end of a run.
 */
function unchangedFit({ fit_at }: StoredPresence): WriteCondition {
  if (fit_at === undefined) return { ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(fit_at)' };
  return hasAttributes({ fit_at });
}

/**
 * Records in the transaction that ends a run that the agent must be restarted, if it must. The transaction fails with
 * StaleReadError if the CVM has reported its fitness since it was read.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`
 */
export function recordSpent(
  transaction: Transaction,
  { domain, cvm_id }: RunReference,
  { item, acceptedAt, now }: { item: Item | undefined; acceptedAt: string | undefined; now: string },
): void {
  const presence = item && parsePresence(item);
  if (!presence || acceptedAt === undefined || !isSpentBy(presence, acceptedAt)) return;
  const set = setAttributesIf(unchangedFit(presence), { fit: 'spent', fit_at: now });
  transaction.add({ update: { ...set, Key: cvmKeys.cvm(domain, cvm_id) }, otherwise: StaleReadError });
}

const ofCvm = v.object({
  attestation: v.nullable(storedAttestation),
  attested_process: v.optional(v.string()),
  attested_stream: v.optional(v.string()),
  held_stream: v.optional(v.string()),
  certificate: v.nullable(v.string()),
});

const provenGuests = v.object({ guests: v.optional(v.array(v.string()), []) });

/** The attestation of the present agent process of a CVM. */
export interface CvmAttestation {
  isRegistered: boolean;
  /** The attestation that answers show. It is a refused one if the service refused any token of the process. */
  shown: Attestation | null;
  /** The identifier of the agent process whose attestation is stored. Undefined without an attestation. */
  process: string | undefined;
  /** `attested` while the connection is open over which the attestation came, else `reconnected`. */
  connection: (typeof connections)[number];
  certificate: string | null;
}

/**
 * Returns what the item of a registered CVM says about its attestation.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`, undefined if the CVM is not registered
 * @param isHeld whether the gateway that has the stream of the CVM lives
 */
export function attestationOf(item: Item | undefined, isHeld: boolean): CvmAttestation {
  if (!item) return { isRegistered: false, shown: null, process: undefined, connection: 'reconnected', certificate: null };
  const { attestation: shown, attested_process, certificate, ...streams } = parseStored(ofCvm, item, 'registered CVM');
  const { attested_stream, held_stream } = streams;
  const isAttested = isHeld && attested_stream !== undefined && attested_stream === held_stream;
  const connection = isAttested ? 'attested' : 'reconnected';
  return { isRegistered: true, shown, process: attested_process, connection, certificate };
}

/**
 * Returns the REPORT_IDs of the SNP guests that the attestation of a CVM proves.
 * @param item the stored item of the CVM, read at `cvmKeys.cvm`, undefined if the CVM is not registered
 */
export function guestsOf(item: Item | undefined): string[] {
  return item ? parseStored(provenGuests, item, 'registered CVM').guests : [];
}
