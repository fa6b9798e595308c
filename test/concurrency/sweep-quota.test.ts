import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepRuns } from '../../shared/runs/sweep-runs.ts';
import { cvmKeys } from '../../shared/table/keys.ts';
import { schemaVersion } from '../../shared/table/schema-version.ts';
import { amount } from '../support/amounts.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../support/embedded-table.ts';
import { quotaStepFunctions } from '../support/quota-step-functions.ts';
import { numberedId } from '../../shared/identifiers.ts';

const domain = 'd1';
const claimedAt = '2026-01-01T00:00:00.000Z';
const now = '2026-01-01T01:00:00.000Z';

/** `npm run test:full` sweeps 20,000 claims. */
const count = amount({ sample: 1_000, full: 20_000 });
const timeout = amount({ sample: 300_000, full: 1_800_000 });
const callsPerSweep = 200;
/** Of the claims, those without a task token: their execution never started, or is about to offer its run. */
const tokenless = 20;
/** Those of AWS have some 0.6 to 1 KB. */
const taskToken = 'T'.repeat(1_024);

const runIds = Array.from({ length: count }, (_, number) => numberedId(number));

let embedded: EmbeddedTable;
beforeAll(async () => {
  embedded = await startEmbeddedTable();
  const claims = runIds.map(claimOf);
  for (let start = 0; start < count; start += 25) {
    const puts = claims.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await embedded.table.document.send(new BatchWriteCommand({ RequestItems: { [embedded.table.name]: puts } }));
  }
});
afterAll(() => embedded.stop());

function claimOf(run_id: string, number: number) {
  const cvm_id = `cvm-${number}`;
  return {
    ...cvmKeys.claim(domain, cvm_id),
    ...schemaVersion('claim'),
    domain,
    computation_id: numberedId(1),
    run_id,
    cvm_id,
    claimed_at: claimedAt,
    run_command_id: 'run',
    stop_command_id: 'stop',
    ...(number < tokenless ? {} : { offer_token: taskToken }),
  };
}

const nameOf = (number: number) => `run-${runIds[number] ?? ''}`;

describe(`the sweep of ${count} claims under the quota of AWS`, () => {
  it(
    'finds every lost execution: without a task token in the first minute, else in as many as the claims take',
    async () => {
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
      expect(throttled).toBe(0);
      expect(calls).toBeLessThanOrEqual(callsPerSweep * bound);
      expect([...found.keys()].sort()).toEqual([...lost].sort());
      expect(young.map((number) => found.get(nameOf(number)))).toEqual([0, 0]);
    },
    timeout,
  );
});
