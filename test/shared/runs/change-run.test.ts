import { numberedId, numberOf } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { readToChange, type ComputationToChange } from '../../../shared/computations/change-computation.ts';
import type { Run } from '../../../shared/computations/run.ts';
import { indexedLists } from '../../../shared/lists/indexed-list.ts';
import { nameOfResource } from '../../../shared/lists/log.ts';
import { readLog } from '../../../shared/lists/unfolded-entries.ts';
import { addRun, changeRun, removeRun } from '../../../shared/runs/change-run.ts';
import { StaleReadError } from '../../../shared/table/fresh-reads.ts';
import { ConditionFailedError, Transaction } from '../../../shared/table/transaction.ts';
import { clockOfTests } from '../../support/append-to-journal.ts';
import { aComputation } from '../../support/builders-store.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';

const embedded = sharedByTests(startEmbeddedTable);

const domain = 'd1';
const entry = { originator: 'alice', details: {}, now: clockOfTests };
let runs = 0;

async function change(computationId: string, act: (transaction: Transaction, computation: ComputationToChange) => unknown) {
  const transaction = new Transaction();
  await act(transaction, await readToChange(embedded.table, domain, computationId));
  await transaction.commit(embedded.table);
}

const add = (run: Run) =>
  change(run.computation_id, (transaction, computation) => addRun(embedded.table, transaction, computation, run, entry));
const end = (before: Run, status: Run['status']) =>
  change(before.computation_id, (transaction, computation) =>
    changeRun(embedded.table, transaction, computation, { before, after: { ...before, status } }, entry),
  );
const remove = (run: Run, deletedAs?: number) =>
  change(run.computation_id, (transaction) => removeRun(transaction, domain, run, deletedAs));

async function aStartedRun(): Promise<Run> {
  const run: Run = {
    id: numberedId(++runs),
    computation_id: await aComputation(embedded.table, domain),
    cvm_id: 'cvm-1',
    status: 'running',
    started_at: clockOfTests,
    ended_at: null,
    started_by: 'alice',
    reason: null,
    manifest_digest: 'ab'.repeat(32),
  };
  await add(run);
  return run;
}

describe('addRun', () => {
  it('replaces no run that has the same identifier', async () => {
    const run = await aStartedRun();
    const computation_id = await aComputation(embedded.table, domain);
    await expect(add({ ...run, computation_id })).rejects.toBeInstanceOf(ConditionFailedError);
  });
});

describe('changeRun', () => {
  it('fails with StaleReadError if the run has changed since it was read, and its computation was read after that', async () => {
    const run = await aStartedRun();
    await end(run, 'failed');
    await expect(end(run, 'completed')).rejects.toBeInstanceOf(StaleReadError);
  });
});

describe('removeRun', () => {
  it('fails with ConditionFailedError if the run was removed before', async () => {
    const run = await aStartedRun();
    await remove(run);
    await expect(remove(run)).rejects.toBeInstanceOf(ConditionFailedError);
  });

  it('names the deletion that it comes after, if its version is known', async () => {
    const [known, unknown] = [await aStartedRun(), await aStartedRun()];
    await remove(known, 7);
    await remove(unknown);
    const entries = await readLog(embedded.table, indexedLists.runs(domain).index);
    const afterOf = ({ id }: Run) =>
      entries.find(({ name }) => name === `run-${nameOfResource(numberOf(id) ?? 0)}`)?.steps.map(({ after }) => after);
    expect(afterOf(known)).toEqual([{ name: nameOfResource(numberOf(known.computation_id) ?? 0), version: 7 }]);
    expect(afterOf(unknown)).toEqual([undefined]);
  });
});
