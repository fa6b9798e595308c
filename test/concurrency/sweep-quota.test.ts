import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { numberedId } from 'computation-management-formats/identifiers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepRuns } from '../../shared/lifecycle/sweep-runs.ts';
import { cvmKeys } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';
import { amount } from '../support/amounts.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../support/embedded-table.ts';
import { quotaStepFunctions } from '../support/simulated-step-functions.ts';
import { schemaAttribute } from '../../shared/table/stored.ts';
import { runKey } from '../../shared/rows/run.ts';

const domain = 'd1';
const claimedAt = '2026-01-01T00:00:00.000Z';
const now = '2026-01-01T01:00:00.000Z';

/** `npm run test:full` sweeps 20,000 claims. */
const count = amount({ sample: 500, full: 20_000 });
const callsPerSweep = 200;
/** The number of claims without a task token: their execution never started, or is about to offer its run. */
const tokenless = 20;
/** A task token as long as those of AWS, which have some 0.6 to 1 KB. */
const taskToken = 'T'.repeat(1_024);

const computation_id = numberedId(1);
const runIds = Array.from({ length: count }, (_, number) => numberedId(number));

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable({ bySdk: true });
  await putAll(
    embedded.table,
    runIds.map((id, number) => claimOf(id, number)),
  );
});
afterAll(() => embedded.stop());

async function putAll({ document, name }: Table, items: object[]): Promise<void> {
  for (let start = 0; start < items.length; start += 25) {
    const puts = items.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await document.send(new BatchWriteCommand({ RequestItems: { [name]: puts } }));
  }
}

function claimOf(run_id: string, number: number, { isSuspect = number < tokenless } = {}) {
  const cvm_id = `cvm-${number}`;
  return {
    ...cvmKeys.claim(domain, cvm_id),
    ...schemaAttribute,
    domain,
    computation_id,
    run_id,
    cvm_id,
    claimed_at: claimedAt,
    run_command_id: 'run',
    stop_command_id: 'stop',
    has_server_key: false,
    has_asset_keys: false,
    ...(isSuspect ? {} : { [number % 2 === 0 ? 'offer_token' : 'run_token']: taskToken }),
  };
}

const nameOf = (number: number) => `run-${runIds[number] ?? ''}`;

describe(`the sweep of ${count} claims under the quota of AWS`, () => {
  it('finds every lost execution: without a task token in the first minute, else in as many as the claims take', async ({
    annotate,
  }) => {
    const young = [3, 17];
    const old = [tokenless, Math.floor(count / 2), count - 1];
    const lost = new Set([...young, ...old].map(nameOf));
    const found = new Map<string, number>();
    const stepFunctions = quotaStepFunctions((name) => {
      if (!lost.has(name)) return false;
      if (!found.has(name)) found.set(name, stepFunctions.figures().minute);
      return true;
    });
    const bound = Math.ceil((count - tokenless) / (callsPerSweep - tokenless)) + 1;
    for (let minute = 0; minute < bound; minute++) {
      await sweepRuns(embedded.table, stepFunctions.executions, now, { graceInSeconds: 60 });
      stepFunctions.untilNextMinute();
    }
    const { calls, throttled } = stepFunctions.figures();
    stepFunctions.stop();
    const last = Math.max(...found.values()) + 1;
    await annotate(`${bound} sweeps, ${calls} calls, ${throttled} refused; the last lost execution was found by sweep ${last}`);
    expect(throttled).toBe(0);
    expect(calls).toBeLessThanOrEqual(callsPerSweep * bound);
    expect([...found.keys()].sort()).toEqual([...lost].sort());
    expect(young.map((number) => found.get(nameOf(number)))).toEqual([0, 0]);
  });

  it('finds a lost execution behind 110 suspects that are being stopped, which take two calls each', async () => {
    const other = await startEmbeddedTable({ bySdk: true });
    const suspects = 110;
    const claims = Array.from({ length: 170 }, (_, number) => {
      return claimOf(numberedId(number), number, { isSuspect: number < suspects });
    });
    // By their place, the last ones of the suspects and of the others.
    const lastOf = (some: typeof claims) => some.toSorted((x, y) => (x.cvm_id < y.cvm_id ? -1 : 1)).at(-1)?.run_id ?? '';
    const lostIds = [lastOf(claims.slice(0, suspects)), lastOf(claims.slice(suspects))];
    const lost = new Set(lostIds.map((id) => `run-${id}`));
    const beingStopped = claims.slice(0, suspects).filter(({ run_id }) => !lostIds.includes(run_id));
    const stopping = beingStopped.map(({ run_id, cvm_id }) => ({
      ...runKey(domain, run_id),
      ...schemaAttribute,
      id: run_id,
      computation_id,
      cvm_id,
      status: 'stopping',
      started_at: claimedAt,
      ended_at: null,
      started_by: 'alice',
      reason: null,
      reason_code: null,
      result: null,
      manifest_digest: '0'.repeat(64),
      configuration_digest: '0'.repeat(64),
    }));
    await putAll(other.table, [...claims, ...stopping]);
    const found: number[] = [];
    const stepFunctions = quotaStepFunctions((name) => {
      if (lost.has(name)) found.push(stepFunctions.figures().minute);
      return lost.has(name);
    });
    for (let minute = 0; minute < 2; minute++) {
      await sweepRuns(other.table, stepFunctions.executions, now, { graceInSeconds: 60 });
      stepFunctions.untilNextMinute();
    }
    const { calls, throttled } = stepFunctions.figures();
    stepFunctions.stop();
    await other.stop();
    expect({ found, throttled }).toEqual({ found: [1, 1], throttled: 0 });
    expect(calls).toBeLessThanOrEqual(2 * (callsPerSweep + 1));
  });
});
