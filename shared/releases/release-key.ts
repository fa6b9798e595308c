import { teeThumbprint } from 'computation-management-key-release';
import { plainName } from 'computation-management-formats/quoted-name';
import { timeOf } from 'computation-management-formats/timestamps';
import { system } from 'computation-management-formats/vocabulary';
import { readAgentRecord } from '../attestation/index.ts';
import { failuresOf, isFirstRunIn, useOfGuest } from '../rows/agent-tokens.ts';
import {
  type KeyOfRun,
  mostReleases,
  parseKeyOfRun,
  mostRefusals,
  openWithout,
  parseRefusals,
  putRefusals,
} from '../rows/asset-key.ts';
import { readToChange, recordEvents } from '../rows/change-computation.ts';
import { assertClaimed, claimKey, parseClaimOf } from '../rows/claim.ts';
import { readRegistration } from '../rows/command-stream.ts';
import type { KeySession } from '../rows/key-session.ts';
import { findRun, runKey } from '../rows/run.ts';
import { assertNotRevoked, parseActs } from '../rows/run-acts.ts';
import { neededApprovalsOf, parseSnapshot, type RunSnapshot } from '../rows/run-snapshot.ts';
import { truncate } from '../runtime/errors.ts';
import { assetKeys, cvmKeys, guestKeys, runKeys } from '../table/keys.ts';
import { type Table, getItems, queryPrefix } from '../table/table.ts';
import { StaleReadError, Transaction, withFreshReads } from '../table/transaction.ts';
import type { AnsweredState } from './ask-agent.ts';
import type { ProcessOfKeyedRun } from './find-run.ts';
import { hasAttributes } from '../table/writes.ts';
import { attestAgain, refused } from './refusals.ts';

/** A request of the guest of a run for the key of an asset. */
export interface KeyRequest {
  run: ProcessOfKeyedRun;
  session: KeySession;
  /** The identifier of the asset, lower case. */
  asset: string;
  /** The state that the agent answered after the nonce of the session was made. Undefined if it did not. */
  answered: AnsweredState | undefined;
}

/**
 * Refuses a request of the guest of a run for a key unless every condition of the release holds, or releases
 * the key: in one transaction with its count and the event `key_released`. A refusal becomes the event `key_refused`, up to 20 in a run.
 * @param make makes what the guest gets, before the transaction. Default: nothing is released, the conditions are only checked
 * @param now the time, by which approvals must not have expired: RFC 3339, UTC, milliseconds
 * @throws ServiceError `forbidden` with the failing condition; `unauthenticated` if another attestation may succeed
 */
export async function releaseKey<Made>(
  table: Table,
  request: KeyRequest,
  make: (key: KeyOfRun) => Promise<Made>,
  now: () => string,
): Promise<Made> {
  return await withFreshReads(table, async (table) => {
    const at = now();
    const { state, key } = await readToRelease(table, request, at);
    const made = await make(key);
    await release(table, state, key, request, at);
    return made;
  });
}

/**
 * Checks the conditions of the release of a key as `releaseKey` does, and releases nothing.
 * @returns the key of the asset, as its run keeps it
 */
export async function checkRelease(table: Table, request: KeyRequest, now: () => string): Promise<KeyOfRun> {
  return await withFreshReads(table, async (table) => (await readToRelease(table, request, now())).key);
}

/** Reads what a release depends on, and refuses the request of the guest unless every condition holds. */
async function readToRelease(table: Table, request: KeyRequest, at: string): Promise<{ state: State; key: KeyOfRun }> {
  const state = await readState(table, request);
  const { key } = state;
  const why = whyNot(state, request, at);
  if (why !== undefined || key === undefined) return await refuse(table, state, request, why ?? noKey, at);
  return { state, key };
}

/** Refuses the request of the guest of a run for a key, with a sentence of another part, such as of a broker. Throws. */
export async function refuseKey(table: Table, request: KeyRequest, sentence: string, now: () => string): Promise<never> {
  return await withFreshReads(table, async (table) =>
    refuse(table, await readState(table, request), request, { sentence }, now()),
  );
}

interface Why {
  sentence: string;
  /** True if the same request may be allowed after another attestation. */
  again?: true;
}
const noKey: Why = { sentence: 'The run has no key of this asset.' };

type State = Awaited<ReturnType<typeof readState>>;

/** Reads everything that the release of a key depends on: the journal's head first, which each change of it moves. */
async function readState(table: Table, { run: { run, process }, session, asset }: KeyRequest) {
  const { domain, computation_id, run_id, cvm_id } = run;
  const computation = await readToChange(table, domain, computation_id);
  const [items, reconnects, record, registration] = await Promise.all([
    getItems(table, [
      runKey(domain, run_id),
      claimKey(run),
      runKeys.snapshot(computation_id, run_id),
      runKeys.assetKey(computation_id, run_id, asset),
      runKeys.acts(computation_id, run_id),
      runKeys.refusals(computation_id, run_id),
      assetKeys.key(asset),
      guestKeys.guest(session.attestation.guest ?? ''),
    ]),
    queryPrefix(table, runKeys.partition(computation_id), runKeys.report(computation_id, run_id, 'reconnected:').sk, {
      limit: 1,
    }),
    readAgentRecord(table, { domain, cvmId: cvm_id }),
    readRegistration(table, { domain, cvmId: cvm_id }),
  ]);
  const [runItem, claimItem, snapshotItem, keyItem, actsItem, refusalsItem, totals, guest] = items;
  return {
    computation,
    run: findRun(runItem, run_id),
    claim: parseClaimOf(run, claimItem),
    snapshot: snapshotItem && parseSnapshot([snapshotItem]),
    key: parseKeyOfRun(keyItem),
    acts: parseActs(actsItem),
    refusals: parseRefusals(refusalsItem),
    hasTotals: totals !== undefined,
    isFirstRun: guest === undefined || isFirstRunIn(guest, run),
    hasReconnected: reconnects.length > 0,
    isOfProcess: record.run_id === run_id && record.process === process.process,
    isAttestedStream: registration?.commandStream !== undefined && registration.commandStream.stream === record.attested_stream,
    stream: registration?.commandStream?.stream,
    process: record.process,
  };
}

/** Returns the policies that a machine must satisfy for a key: the computation's and the key's own. */
const policiesOf = (snapshot: RunSnapshot | undefined, key: KeyOfRun) =>
  [snapshot?.attestation_policy ?? null, key.release_policy].filter((policy) => policy !== null);

const receiving = ['ReceivingAlgorithm', 'ReceivingData'];

/** Returns the condition of a release that does not hold. Undefined if the key may be released. */
function whyNot(state: State, { session, answered }: KeyRequest, at: string): Why | undefined {
  const { run, claim, snapshot, key } = state;
  if (run?.status !== 'running' || !claim || !snapshot || claim.outcome)
    return { sentence: 'The run is over, or is being stopped.' };
  if (claim.accepted_at === undefined) return { sentence: 'The CVM has not accepted the run yet.', again: true };
  if (!key) return noKey;
  if (!state.isOfProcess) return { sentence: 'The agent process of the run was replaced.' };
  const revoked = whyRevoked(state, snapshot, at);
  if (revoked !== undefined) return { sentence: revoked };
  const policies = policiesOf(snapshot, key);
  if (policies.length === 0)
    return { sentence: 'Neither the computation nor the key has a policy that says which machines may get it.' };
  for (const policy of policies) {
    const failures = failuresOf([{ kind: 'eat', attestation: session.attestation }], policy);
    if (failures !== undefined) return { sentence: `The evidence does not satisfy the policy. Failed checks: ${failures}` };
    if (!policy.allow_used_guest && !state.isFirstRun)
      return { sentence: 'The guest was given another run before, and the policy allows only unused ones.' };
  }
  const allowsReconnect = (key.release_policy ?? snapshot.attestation_policy)?.allow_reconnect === true;
  if (!allowsReconnect && (state.hasReconnected || !state.isAttestedStream))
    return { sentence: 'The agent has connected again since it attested, and the policy allows no other connection.' };
  if (key.releases >= mostReleases) return { sentence: `The key was released ${mostReleases} times in this run already.` };
  if (answered === undefined || answered.stream !== state.stream)
    return { sentence: 'The agent did not answer over its attested connection in 5 seconds. Attest again.', again: true };
  if (!receiving.includes(answered.state))
    return { sentence: `The agent is in the state ${answered.state}: keys are for ${receiving.join(' and ')}.` };
  return undefined;
}

/** Returns why an approval that the start needed does not count any more. Undefined if all do. */
function whyRevoked({ acts }: State, snapshot: RunSnapshot, at: string): string | undefined {
  const [act] = Object.entries(acts.revoked ?? {});
  if (act) {
    const [user, done] = act;
    const how = {
      withdrew: 'was withdrawn',
      refused: 'was refused',
      replaced: 'was replaced by one that does not count for this run',
    };
    return `The approval of ${plainName(user)} ${how[done]}.`;
  }
  const expired = neededApprovalsOf(snapshot).find(({ expires_at }) => hasPassed(expires_at, at));
  const replaced = Object.entries(acts.expiries ?? {}).find(([, expiry]) => hasPassed(expiry, at));
  const user = expired?.user ?? replaced?.[0];
  return user === undefined ? undefined : `The approval of ${plainName(user)} has expired.`;
}

const hasPassed = (time: string | null, at: string) => time !== null && timeOf(time) <= Date.parse(at);

/** The part that all events of keys have. */
const own = { originator: system, lifecycle: false } as const;

async function release(table: Table, state: State, key: KeyOfRun, request: KeyRequest, at: string): Promise<void> {
  const { session, asset } = request;
  const { run } = request.run;
  const { computation_id, run_id, domain, cvm_id } = run;
  const details = {
    asset,
    number: key.number,
    fingerprint: key.fingerprint,
    evidence: session.evidence_hash,
    tee_key: teeThumbprint(session.tee_key),
  };
  const transaction = new Transaction();
  const event = { ...own, run_id, cvm_id, event_type: 'key_released', status: 'success', details } as const;
  await recordEvents(table, transaction, state.computation, [event], at);
  assertClaimed(transaction, run, ['outcome']);
  const otherwise = StaleReadError;
  transaction.add(
    { ...assertNotRevoked(run, at), otherwise },
    {
      update: {
        Key: runKeys.assetKey(computation_id, run_id, asset),
        UpdateExpression: 'SET releases = releases + :one',
        ConditionExpression: 'releases < :most',
        ExpressionAttributeValues: { ':one': 1, ':most': mostReleases },
      },
      otherwise,
    },
    { check: { Key: cvmKeys.agent(domain, cvm_id), ...hasAttributes({ run_id, process: state.process }) }, otherwise },
    { check: { Key: cvmKeys.cvm(domain, cvm_id), ...hasAttributes({ held_stream: state.stream }) }, otherwise },
  );
  const { guest } = session.attestation;
  const isUnused = policiesOf(state.snapshot, key).some(({ allow_used_guest }) => !allow_used_guest);
  if (guest !== null) transaction.add({ ...useOfGuest(guest, run, isUnused), otherwise });
  if (state.hasTotals) transaction.add(countRelease(asset, at));
  const { refusals } = state;
  const open = openWithout(refusals, asset);
  if (open.length < refusals.open.length) transaction.add(putRefusals(run, refusals, { ...refusals, open }));
  await transaction.commit(table);
}

/** Returns the action that counts a release in the totals of an asset. */
function countRelease(asset: string, at: string) {
  const update = {
    Key: assetKeys.key(asset),
    UpdateExpression: 'SET releases = releases + :one, last_released_at = :at',
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: { ':one': 1, ':at': at },
  };
  return { update, otherwise: StaleReadError };
}

/** Records the refusal of a key in the journal of its run, unless the run is over or has too many. Throws the refusal. */
async function refuse(
  table: Table,
  { computation, run, refusals }: State,
  { run: { run: reference }, asset }: KeyRequest,
  { sentence: said, again }: Why,
  at: string,
): Promise<never> {
  const { run_id, cvm_id } = reference;
  const sentence = truncate(said, 1_000);
  if (refusals.count < mostRefusals && run?.ended_at === null) {
    const after = { count: refusals.count + 1, open: [...openWithout(refusals, asset), { asset, sentence }] };
    const details = { asset, reason: sentence };
    const transaction = new Transaction();
    transaction.add(putRefusals(reference, refusals, after));
    assertClaimed(transaction, reference);
    const event = { ...own, run_id, cvm_id, event_type: 'key_refused', status: 'failure', details } as const;
    await recordEvents(table, transaction, computation, [event], at);
    await transaction.commit(table);
  }
  throw again ? attestAgain(sentence) : refused(sentence);
}
