import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isClosingOf } from '../../../shared/deletion/closed-domain.ts';
import { countDomain, noCounts, removeDomain } from '../../../shared/deletion/remove-domain.ts';
import { readSweepState, writeSweepState } from '../../../shared/runs/sweep-runs.ts';
import { assetKeys, cvmKeys, journalKeys, keyToWrite, limitKeys, listKeys, lists, type Key } from '../../../shared/table/keys.ts';
import type { Table } from '../../../shared/table/table.ts';
import { deleteItems, putItems } from '../../../shared/table/writes.ts';
import { startEmbeddedTable } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { scan } from '../../support/lifecycle-inconsistencies.ts';
import { tableThrough } from '../../support/table-through.ts';

const embedded = sharedByTests(startEmbeddedTable);
let table: Table;
beforeAll(() => {
  table = embedded.table;
});
beforeEach(async () => {
  await deleteItems(table, (await scan(table)) as unknown as Key[]);
});

const domain = 'd1';
const put = (...items: Key[]) =>
  putItems(
    table,
    items.map((item) => ({ ...item })),
  );
const written = (): Key => journalKeys.event('own', 1);
/** The row of the computation `own`, by which its events are found, and 30 of them: more than one deletion takes. */
const filled = () => [
  { ...keyToWrite(listKeys.row(lists.computations(domain), 1)), id: 'own' },
  ...Array.from({ length: 30 }, (_, number) => journalKeys.event('own', number)),
  cvmKeys.cvm(domain, 'cvm-1'),
];
const left = async () => (await scan(table)).map(({ pk, sk }) => `${String(pk)} ${String(sk)}`);

/** The same table. Each of its calls waits until `before` is done. */
function tableAfter(before: (command: unknown) => Promise<void>): Table {
  return tableThrough(table, async (send, command) => {
    await before(command);
    return await send();
  });
}

describe('the removal of a domain', () => {
  it('removes what was counted before, and no item of another domain', async () => {
    const other = [cvmKeys.cvm('d10', 'cvm-1'), assetKeys.contentReads('other')];
    await put(...filled(), ...other);
    const counted = await countDomain(table, { domain });
    expect(counted).toEqual({ ...noCounts(), computations: 1, events: 30, CVMs: 1 });
    expect(await removeDomain(table, { domain })).toEqual(counted);
    expect((await left()).sort()).toEqual(other.map(({ pk, sk }) => `${pk} ${sk}`).sort());
  });

  it('removes what is written while it waits for earlier requests, once', async () => {
    await put(...filled());
    let waits = 0;
    const settle = async () => {
      waits += 1;
      await put(written());
    };
    expect(await removeDomain(table, { domain, settle })).toMatchObject({ events: 31 });
    expect([waits, await left()]).toEqual([1, []]);
  });

  it('deletes the row of a computation last, because a repeated removal finds the other items by it', async () => {
    await put(...filled());
    const deletions: string[] = [];
    const recorded = tableAfter(async (command) => {
      if (command instanceof BatchWriteCommand) deletions.push(JSON.stringify(command.input.RequestItems));
    });
    await removeDomain(recorded, { domain });
    expect(deletions.map((deletion) => deletion.includes('computations#d1')).lastIndexOf(false)).toBe(deletions.length - 2);
    expect(deletions.filter((deletion) => deletion.includes('computations#d1'))).toHaveLength(1);
  });

  it('does not wait where there is nothing to remove', async () => {
    const settle = () => Promise.reject(new Error('It waits.'));
    expect(await removeDomain(table, { domain, settle })).toEqual(noCounts());
  });

  /** Removes the domain while an event of it is written at the beginning of each of its first passes over the table. */
  async function removeWhileInUse({ passes }: { passes: number }) {
    await put(...filled());
    const segments = 4;
    const writes: Promise<void>[] = [];
    let scans = 0;
    const scanned = tableAfter(async (command) => {
      if (!(command instanceof ScanCommand)) return;
      const pass = Math.floor(scans++ / segments);
      await (writes[pass] ??= pass < passes ? put(written()) : Promise.resolve());
    });
    return await removeDomain(scanned, { domain });
  }

  it('succeeds if the fifth pass over the table is the first that finds nothing', async () => {
    expect(await removeWhileInUse({ passes: 4 })).toMatchObject({ events: 33 });
    expect(await left()).toEqual([]);
  });

  it('fails if something of the domain is found in five passes', async () => {
    await expect(removeWhileInUse({ passes: 5 })).rejects.toThrow('Items of the domain d1 are written again and again.');
  });

  it('makes the sweep forget the claims of the domain, and no others', async () => {
    const [own, other] = [
      { domain, cvm_id: 'cvm-1' },
      { domain: 'd10', cvm_id: 'cvm-1' },
    ];
    await writeSweepState(table, { suspect: own, other });
    await removeDomain(table, { domain });
    expect(await readSweepState(table)).toEqual({ other });
    await writeSweepState(table, { suspect: other, other: own });
    await removeDomain(table, { domain });
    expect(await readSweepState(table)).toEqual({ suspect: other });
  });

  it('spares what stays, and does not count it', async () => {
    await put(limitKeys.changes(domain));
    expect(await removeDomain(table, { domain, stays: (key) => isClosingOf(domain, key) })).toEqual(noCounts());
    expect(await left()).toEqual(['limit#d1 changes']);
  });
});
