import {
  type Challenge,
  makeChallenge,
  openChallenge,
  parseAttestRequest,
  protocolVersion,
  sessionOf,
  tokenInput,
  tokenOfEvidence,
} from 'computation-management-key-release';
import { verifyFresh } from '../attestation/index.ts';
import { sign } from '../evidence/index.ts';
import { tokenKey } from '../rows/agent-tokens.ts';
import type { ContentStore } from '../rows/content-store.ts';
import { hashOfBody, keepSession } from '../rows/key-session.ts';
import { type KeyedRun, readKeyedRuns } from '../rows/asset-key.ts';
import { readServiceSecret } from '../rows/sealed-key.ts';
import type { Kms } from '../runtime/clients.ts';
import type { Table } from '../table/table.ts';
import { readProcesses } from './find-run.ts';
import { attestAgain, byProtocol, refused } from './refusals.ts';

interface Services {
  table: Table;
  store: ContentStore;
  kms: Kms;
}

/** Answers a client that wants to attest: makes a nonce and the session for its cookie. Keeps nothing. */
export async function challenge(
  table: Table,
  kms: Kms,
  { domain, version, now }: { domain: string; version: unknown; now: string },
): Promise<Challenge> {
  if (version !== protocolVersion) throw attestAgain(`The version of the protocol must be ${protocolVersion}.`);
  return makeChallenge({ secret: await readServiceSecret(table, kms, 'challenges'), audience: domain }, new Date(now));
}

interface Attesting {
  domain: string;
  /** The value of the client's cookie. */
  session: string | undefined;
  body: string;
  now: string;
}

/**
 * Verifies the evidence of a guest for a nonce, and opens its session. Whether a key is released is decided when the guest asks for it.
 * @returns an attestation token
 * @throws ServiceError `forbidden` if no active run of the domain has a key, or the evidence does not hold; `unauthenticated` if the nonce does
 *   not hold
 */
export async function attest(services: Services, { domain, session = '', body, now }: Attesting) {
  const { table, kms } = services;
  const runs = await readKeyedRuns(table, domain);
  if (runs.length === 0) throw refused(`No active run of the domain ${domain} has a key.`);
  const request = await byProtocol(() => parseAttestRequest(body));
  const key = { secret: await readServiceSecret(table, kms, 'challenges'), audience: domain };
  await byProtocol(() => openChallenge(key, { nonce: request.nonce, session }, new Date(now)));
  const token = await byProtocol(() => tokenOfEvidence(request.evidence), refused);
  const tokensOfRuns = () => keysOfTokens(table, domain, runs, Date.parse(now));
  const attestation = await verifyFresh(services, { token, reportData: request.reportData, tokensOfRuns }, now);
  const failed = attestation.checks.filter(({ name, passed }) => !passed && !policiesDecide.includes(name));
  if (attestation.verdict === 'unsupported' || failed.length > 0)
    throw refused(`The evidence is ${attestation.verdict}. ${failed.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`);
  const evidence_hash = hashOfBody(body);
  const kept = {
    session: sessionOf(key, request.nonce),
    attestation: { ...attestation, token_hash: evidence_hash },
    tee_key: request.teePublicKey as Record<string, unknown>,
    evidence_hash,
    attested_at: now,
  };
  const shown = runs.some(({ asks_parties }) => asks_parties) ? body : undefined;
  if (!(await keepSession(table, domain, kept, shown))) throw attestAgain('The nonce was used before. Attest again.');
  const status = attestation.verdict === 'verified' ? 'affirming' : 'warning';
  const claims = {
    session: kept.session,
    audience: domain,
    platform: attestation.platform,
    status,
    teePublicKey: request.teePublicKey,
  } as const;
  const input = tokenInput(claims, new Date(now));
  const { signature } = await sign(kms, input);
  return { token: `${input}.${signature}` };
}

/** The checks of evidence that fail where a policy may still allow the machine. */
const policiesDecide = ['debug', 'tcb_status'];

/** The keys in storage of the tokens of the runs of a domain, as they were read last. */
const lately = new Map<string, { runs: string; readAt: number; keys: Promise<string[]> }>();
const mostDomains = 1_000;

/**
 * Returns the names under which storage has the attestation tokens of the CVMs of runs, from a cache of one second: anyone can send evidence,
 * and a flood of it must not cost a read each. An agent whose token came in that second may be refused, and attests again.
 */
function keysOfTokens(table: Table, domain: string, runs: readonly KeyedRun[], now: number): Promise<string[]> {
  const names = runs.map(({ run_id }) => run_id).join();
  const known = lately.get(domain);
  if (known?.runs === names && Math.abs(now - known.readAt) < 1_000) return known.keys;
  const keys = readProcesses(table, runs).then((processes) =>
    processes.flatMap(({ process, tokens }) => tokens.map(({ hash }) => tokenKey(process, hash))),
  );
  keys.catch(() => lately.delete(domain));
  if (lately.size >= mostDomains) lately.clear();
  lately.set(domain, { runs: names, readAt: now, keys });
  return keys;
}
