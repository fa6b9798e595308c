import { isEqual, toBase64 } from 'computation-management-formats/bytes';
import { canonicalJson, logEntry } from 'computation-management-formats/digests';
import type { LoggedAct } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import { readEvents } from '../events/index.ts';
import { proveEntries, type ProvenEntry, readLogIdentity, type StageLog } from '../history/index.ts';
import type { Event } from '../journal/journal.ts';
import { assertExists } from '../rows/change-computation.ts';
import { computationKey, parseComputation } from '../rows/computation.ts';
import { saltsOf, tagOf } from '../rows/change-run.ts';
import { findRun, type Run, runKey } from '../rows/run.ts';
import { conflict, notFound, orNotFound } from '../runtime/errors.ts';
import { type Key, runKeys } from '../table/keys.ts';
import { deflated, inflated, parseStored, schemaAttribute, storedBytes } from '../table/stored.ts';
import { getItem, type Item, type Table } from '../table/table.ts';
import { readSettled, StaleReadError, Transaction, withFreshReads } from '../table/transaction.ts';
import { type Evidence, type LogOfEvidence, logOfEvidence } from './evidence.ts';
import { sign } from './signing-key.ts';

/** The parts of a stage from which evidence is made: the table, the bucket of the log, and the keys that sign. */
export type Sources = Pick<StageLog, 'table' | 'store' | 'kms'>;

const storedStatement = v.object({
  /** The text of the statement that was signed, deflated. */
  statement: storedBytes,
  signature: v.string(),
  key_id: v.string(),
  log: logOfEvidence,
});

/** A request for a signed statement about a run. */
export interface StatementRequest {
  domain: string;
  computationId: string;
  runId: string;
  serviceVersion: string;
  now: string;
}

/** The part that all statements about a run have. */
interface StatementOfRun {
  domain: string;
  computation: string;
  manifest_digest: string;
  configuration_digest: string;
  log: Awaited<ReturnType<typeof readLogIdentity>>;
  service_version: string;
  issued_at: string;
}

/** A kind of statements about runs. */
interface Kind {
  /** The key of the item that keeps the statement. */
  key: Key;
  /** Throws the conflict of a run that the service cannot state this of yet. */
  refuse: (run: Run) => void;
  /** The events of the run that the statement is about, by their entries in the stage's log. */
  acts: readonly LoggedAct[];
  /** The detail of the conflict until these entries are in the log. */
  pending: string;
  /** Makes the statement, and returns it with the events of `acts`, in their order. */
  state: (
    table: Table,
    run: Run,
    common: StatementOfRun,
    readSnapshot: () => Promise<Item>,
  ) => Promise<{ statement: object; events: Event[] }>;
}

/**
 * Returns a signed statement about a run. The first request makes, signs and stores it, so that it says the same ever after. Nobody
 * sees a statement that is not stored.
 * @throws ServiceError `not_found`; `conflict` as `kind.refuse` throws, until the log of the stage has the entries about the run, or if
 *   the log says otherwise of the run; `unavailable`
 */
export async function readStatement(sources: Sources, request: StatementRequest, kind: Kind): Promise<Evidence> {
  const { domain, computationId, runId } = request;
  return await withFreshReads(sources.table, async (table) => {
    // Settled, so that the events that were written with the run's state are visible.
    const [[row, runItem], made] = await Promise.all([
      readSettled(table, [computationKey(domain, computationId), runKey(domain, runId)]),
      getItem(table, kind.key),
    ]);
    parseComputation(row, computationId);
    const run = findRun(runItem, runId);
    if (run?.computation_id !== computationId) throw notFound('run of this computation');
    kind.refuse(run);
    if (made) return parseStatement(made);
    const proven = await proveEntries({ ...sources, table }, domain, run, kind.acts);
    if (!proven) throw conflict('log_pending', kind.pending);
    const readSnapshot = async () => {
      const item = await getItem(table, runKeys.snapshot(computationId, runId));
      return orNotFound(item, 'run of this computation'); // the computation may just have been deleted
    };
    const { manifest_digest, configuration_digest } = run;
    const common = { domain, computation: computationId, manifest_digest, configuration_digest };
    const made_by = { log: await readLogIdentity(sources.kms), service_version: request.serviceVersion, issued_at: request.now };
    const { statement, events } = await kind.state(table, run, { ...common, ...made_by }, readSnapshot);
    const salts = saltsOf(runItem);
    const entries = kind.acts.map((type, at) => entryOf({ type, domain, run }, salts[type], events[at], proven[at]));
    return await storeStatement({ ...sources, table }, request, { key: kind.key, statement, log: { entries } });
  });
}

/**
 * Returns what stands beside a statement of an event: its entry in the log, with salt and proof.
 * @throws ServiceError `conflict` if the log has another entry
 */
function entryOf(
  act: Parameters<typeof tagOf>[0],
  salt: Uint8Array | undefined,
  event: Event | undefined,
  proven: ProvenEntry | undefined,
): LogOfEvidence['entries'][number] {
  const { type } = act;
  if (!salt || !event || !proven) throw new Error(`The run has no ${type} to state.`);
  if (!isEqual(proven.entry, logEntry({ tag: tagOf(act), salt, event_hash: event.hash }))) {
    const detail = `The log has another ${type} of this run, from before the table was restored. The run has no evidence.`;
    throw conflict('log_contradicted', detail);
  }
  return { type, index: proven.index, salt: toBase64(salt), proof: proven.proof };
}

/** @throws StaleReadError if a statement is stored there already, or the computation was deleted */
async function storeStatement(
  { table, kms }: Pick<Sources, 'table' | 'kms'>,
  { domain, computationId }: StatementRequest,
  { key, statement, log }: { key: Key; statement: object; log: LogOfEvidence },
): Promise<Evidence> {
  const text = canonicalJson(statement);
  const signature = await sign(kms, text);
  const transaction = new Transaction();
  assertExists(transaction, domain, computationId);
  const Item = { ...key, ...schemaAttribute, statement: deflated(text), log, ...signature };
  transaction.add({ put: { Item, ConditionExpression: 'attribute_not_exists(pk)' }, otherwise: StaleReadError });
  await transaction.commit(table);
  return { statement: JSON.parse(text) as unknown, ...signature, log };
}

function parseStatement(item: Item): Evidence {
  const { statement, ...rest } = parseStored(storedStatement, item, 'evidence');
  return { statement: JSON.parse(inflated(statement)) as unknown, ...rest };
}

/**
 * Reads the event of a run that has the given type.
 * @param since not later than the event, of which each run has one
 * @throws Error if the journal lacks it
 */
export async function readEventOf(table: Table, run: Run, event_type: string, since: string): Promise<Event> {
  const filter = { run_id: run.id, event_type, from: since };
  const { events } = await readEvents(table, run.computation_id, filter, { limit: 1, offset: 0 });
  const [event] = events;
  if (!event) throw new Error(`The stored journal of computation ${run.computation_id} lacks the event ${event_type} of a run.`);
  return event;
}
