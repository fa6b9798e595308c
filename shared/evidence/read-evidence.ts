import { configurationOf } from 'computation-management-formats/approval-text';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { canonicalJson } from 'computation-management-formats/digests';
import * as v from 'valibot';
import { readOneCollateral } from '../attestation/index.ts';
import { readTokensOfRun, shownOf, type TokenOfProcess } from '../rows/agent-tokens.ts';
import { assertExists } from '../rows/change-computation.ts';
import { isActive, type Run, findRun, runKey } from '../rows/run.ts';
import type { Event } from '../journal/event.ts';
import { readEvents } from '../events/index.ts';
import { storedSnapshot } from '../rows/run-snapshot.ts';
import { conflict, notFound } from '../runtime/errors.ts';
import { runKeys } from '../table/keys.ts';
import { type Table, getItem, type Item } from '../table/table.ts';
import { type Action, Transaction, readSettled, StaleReadError, withFreshReads } from '../table/transaction.ts';
import { type Evidence, type Statement, statementSchema } from './evidence.ts';
import { sign, type Signature } from './signing-key.ts';
import { parseStored, schemaAttribute, storedBytes, deflated, inflated } from '../table/stored.ts';
import type { Kms } from '../runtime/clients.ts';
import { computationKey, parseComputation } from '../rows/computation.ts';

interface EvidenceRequest {
  domain: string;
  computationId: string;
  runId: string;
  serviceVersion: string;
  now: string;
}

/**
 * Returns the signed evidence of a run. The first request makes and stores it. Nobody sees evidence that is not stored.
 * @throws ServiceError `not_found`; `conflict` while the run is active; `unavailable`
 */
export async function readEvidence(table: Table, kms: Kms, request: EvidenceRequest): Promise<Evidence> {
  return await withFreshReads(table, (table) => readOrMake(table, kms, request));
}

async function readOrMake(table: Table, kms: Kms, request: EvidenceRequest): Promise<Evidence> {
  const { domain, computationId, runId } = request;
  const rowKey = computationKey(domain, computationId);
  const keyOfRun = runKey(domain, runId);
  if (!keyOfRun) throw notFound('run of this computation');
  // Settled, so that the events that were written with the run's end are visible.
  const [[row, runItem], made] = await Promise.all([
    readSettled(table, [rowKey, keyOfRun]),
    getItem(table, runKeys.evidence(computationId, runId)),
  ]);
  parseComputation(row, computationId);
  const run = findRun(runItem, runId);
  if (run?.computation_id !== computationId) throw notFound('run of this computation');
  if (isActive(run.status)) throw conflict('run_active', 'The run is active. Get its evidence after the run has ended.', runId);
  if (made) return parseEvidence(made);

  const statement = await makeStatement(table, request, run);
  const text = canonicalJson(statement);
  const signature = await sign(kms, text);
  const transaction = new Transaction();
  assertExists(transaction, domain, computationId);
  transaction.add(putEvidence(request, { text, ...signature }));
  await transaction.commit(table);
  return { statement: JSON.parse(text) as unknown, ...signature, log: null };
}

/**
 * Collects what the service states about a run: its record, its first and last event, and its attestation.
 * @throws ServiceError `not_found` if the computation was deleted meanwhile
 */
async function makeStatement(
  table: Table,
  { domain, computationId, runId, serviceVersion, now }: EvidenceRequest,
  run: Run,
): Promise<Statement> {
  const [item, process, started, last] = await Promise.all([
    getItem(table, runKeys.snapshot(computationId, runId)),
    readTokensOfRun(table, run),
    readEventOf(table, run, 'started', run.started_at),
    readEventOf(table, run, run.status, run.ended_at ?? run.started_at),
  ]);
  if (!item) throw notFound('run of this computation'); // the computation has just been deleted
  const snapshot = parseStored(storedSnapshot, item, 'snapshot of a run');
  return v.parse(statementSchema, {
    type: 'computation-evidence:v1',
    domain,
    computation: computationId,
    run,
    manifest: snapshot.manifest,
    manifest_digest: snapshot.manifest_digest,
    configuration: configurationOf(snapshot),
    configuration_digest: snapshot.configuration_digest,
    assets: snapshot.assets,
    approval: snapshot.approval,
    result_consumers: snapshot.result_consumers,
    approvals: snapshot.approvals,
    events: { started, last },
    attestation: process
      ? await statedAttestation(
          table,
          process.tokens.map((token) => asAtEnd(token, run)),
        )
      : null,
    certificate: snapshot.certificate,
    certificate_fingerprint: snapshot.certificate === null ? null : fingerprintOfCertificate(snapshot.certificate),
    log: null,
    service_version: serviceVersion,
    issued_at: now,
  });
}

/** Returns an attestation token that counted when a run ended, without a verdict of the service that is later than the end. */
function asAtEnd(token: TokenOfProcess, { ended_at }: Run): TokenOfProcess {
  const isInTime = token.attestation !== null && token.attestation.verified_at <= (ended_at ?? '');
  return isInTime ? token : { ...token, attestation: null };
}

/**
 * Returns what evidence states about the attestation tokens of a run: their hashes, and all that is needed to verify the tokens
 * again. Null if none was verified.
 */
async function statedAttestation(table: Table, tokens: TokenOfProcess[]): Promise<Statement['attestation']> {
  const shown = shownOf(tokens);
  if (!shown) return null;
  const { verdict, checks } = shown;
  const stated = tokens.map(async ({ kind, hash, attestation, collateral_hash }) => ({
    kind,
    hash,
    verdict: attestation?.verdict ?? ('not judged' as const),
    verified_at: attestation?.verified_at ?? '',
    collateral: [await readOneCollateral(table, collateral_hash)].flatMap((found) => found ?? []),
  }));
  return { verdict, checks, tokens: await Promise.all(stated) };
}

/**
 * Reads the event of a run that has the given type.
 * @param since not later than the event, of which each run has one
 * @throws Error if the journal lacks it
 */
async function readEventOf(table: Table, run: Run, event_type: string, since: string): Promise<Event> {
  const filter = { run_id: run.id, event_type, from: since };
  const { events } = await readEvents(table, run.computation_id, filter, { limit: 1, offset: 0 });
  const [event] = events;
  if (!event) throw new Error(`The stored journal of computation ${run.computation_id} lacks the event ${event_type} of a run.`);
  return event;
}

const storedEvidence = v.object({
  /** The text of the statement about the run that was signed, deflated. */
  statement: storedBytes,
  signature: v.string(),
  key_id: v.string(),
});

/**
 * Returns the action that stores the evidence of a run. The transaction fails with StaleReadError if the run already has stored
 * evidence.
 */
function putEvidence(
  { computationId, runId }: { computationId: string; runId: string },
  { text, signature, key_id }: Signature & { text: string },
): Action {
  const Item = {
    ...runKeys.evidence(computationId, runId),
    ...schemaAttribute,
    statement: deflated(text),
    signature,
    key_id,
  };
  return { put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: new StaleReadError() };
}

function parseEvidence(item: Item): Evidence {
  const { statement, signature, key_id } = parseStored(storedEvidence, item, 'evidence');
  return { statement: JSON.parse(inflated(statement)) as unknown, signature, key_id, log: null };
}
