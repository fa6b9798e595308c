import { describe, expect, it } from 'vitest';
import { addCommand, removeCommand, listPendingCommands } from '../../../shared/rows/command.ts';
import { cvmKeys, type Key } from '../../../shared/table/keys.ts';
import { putItem } from '../../../shared/table/writes.ts';
import { Transaction } from '../../../shared/table/transaction.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { queryPartition, type Item } from '../../../shared/table/table.ts';

const embedded = sharedByTests(() => startEmbeddedTable({ bySdk: true }));

const now = '2026-01-01T00:00:00.000Z';
const at = (second: string) => `2026-01-01T00:00:${second}Z`;
const runOn = (domain: string, cvm_id: string) => ({ domain, computation_id: 'c', run_id: `run of ${cvm_id}`, cvm_id });
const listed = async (when: string) =>
  (await listPendingCommands(embedded.table, when)).map(({ domain, cvm_id, type }) => [domain, cvm_id, type].join(' ')).sort();

describe('listPendingCommands', () => {
  it('lists the commands of all domains until they are answered or expire', async () => {
    const transaction = new Transaction();
    const runs = ['d1', 'd2'].flatMap((domain) => ['a', 'b', 'c', 'd', 'e', 'f'].map((cvm) => runOn(domain, cvm)));
    for (const run of runs) addCommand(transaction, run, { type: 'run', id: `for ${run.cvm_id}`, now, lifetimeInSeconds: 30 });
    addCommand(transaction, runOn('d1', 'a'), { type: 'stop', id: 'stop', now, lifetimeInSeconds: 10 });
    await transaction.commit(embedded.table);

    const allRuns = runs.map(({ domain, cvm_id }) => `${domain} ${cvm_id} run`);
    expect(await listed(at('09.999'))).toEqual([...allRuns, 'd1 a stop'].sort());
    expect(await listed(at('10.000'))).toEqual(allRuns);
    expect(await listPendingCommands(embedded.table, at('20.000'))).toContainEqual(
      expect.objectContaining({ ...runOn('d2', 'b'), id: 'for b', type: 'run', expires_at: at('30.000') }),
    );

    const answered = new Transaction();
    removeCommand(answered, runOn('d1', 'a'), 'run');
    await answered.commit(embedded.table);
    expect(await listed(at('20.000'))).toEqual(allRuns.filter((command) => command !== 'd1 a run'));
    expect(await listed(at('30.000'))).toEqual([]);
  });

  it('leaves out one that cannot be read, and lists the others', async () => {
    const transaction = new Transaction();
    const runs = [runOn('d3', 'a'), runOn('d3', 'b')];
    for (const run of runs) addCommand(transaction, run, { type: 'run', id: 'id', now, lifetimeInSeconds: 30 });
    await transaction.commit(embedded.table);
    const shards = await Promise.all(cvmKeys.pendingShards.map((shard) => queryPartition(embedded.table, shard)));
    const broken = shards.flat().find(({ domain, cvm_id }) => domain === 'd3' && cvm_id === 'a') as Item & Key;
    await putItem(embedded.table, { ...broken, type: 'dance' });
    const ofD3 = (await listed(at('20.000'))).filter((command) => command.startsWith('d3'));
    expect(ofD3).toEqual(['d3 b run']);
  });
});
