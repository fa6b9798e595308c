import { randomUUID } from 'node:crypto';
import { numberOf } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { find } from '../../../shared/find/find.ts';
import { indexRows, type NamedRow, rebuildNames } from '../../../shared/find/index-names.ts';
import { findKeys } from '../../../shared/table/keys.ts';
import { deleteItems, putItem } from '../../../shared/table/writes.ts';
import { tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { aComputation, allowed, anAsset, byAlice, startStores } from '../../support/builders-store.ts';
import { queryPartition } from '../../../shared/table/table.ts';

const stores = sharedByTests(startStores);
const table = () => stores.table;
const newDomain = () => `d-${randomUUID().slice(0, 8)}`;
const rowOf = (domain: string, id: string, kind: NamedRow['kind'] = 'computation'): NamedRow => ({
  domain,
  kind,
  number: numberOf(id) ?? 0,
});
const placesIn = async (domain: string) =>
  (await queryPartition(table(), findKeys.partition(domain, 'computation'))).map(({ sk }) => String(sk).split('\t')[0]);
const found = async (domain: string, query: string, more: object = {}) =>
  (await find(table(), { domain, query, limit: 20, ...more })).map(({ id }) => id);

describe('the index of names', () => {
  it('finds what is named so, the best first and then the newest, of the kind that is asked for', async () => {
    const domain = newDomain();
    const [word, first, second, exact] = [
      await aComputation(table(), domain, 'By iris'),
      await aComputation(table(), domain, 'Iris two'),
      await aComputation(table(), domain, 'Iris two'),
      await aComputation(table(), domain, 'IRIS'),
    ];
    const dataset = await anAsset(stores, domain);
    await registerCvm(table(), { domain, cvmId: 'iris-1', given: { description: '' }, now: byAlice.now });
    await indexRows(
      table(),
      [word, first, second, exact].map((id) => rowOf(domain, id)),
    );
    await indexRows(table(), [rowOf(domain, dataset, 'asset'), { domain, kind: 'cvm', number: 1 }]);
    expect(await found(domain, 'iris', { kind: 'computation' })).toEqual([exact, second, first, word]);
    expect(await found(domain, 'iris', { kind: 'cvm' })).toEqual(['iris-1']);
    expect(await found(domain, 'iris', { limit: 2 })).toHaveLength(2);
    expect(await found(domain, first.slice(0, 18))).toEqual([first]);
    expect(await found('other', 'iris')).toEqual([]);
  });

  it('says what rows are now, whatever changed in between, twice or at once', async () => {
    const domain = newDomain();
    const id = await aComputation(table(), domain, 'Iris by region');
    const row = rowOf(domain, id);
    await indexRows(table(), [row, row]);
    const places = ['name#iris by region', 'of#' + String(row.number).padStart(15, '0'), 'word#by', 'word#region'];
    expect(await placesIn(domain)).toEqual(places);
    // A crash after the places of another name, before the item that says so.
    await putItem(table(), { ...findKeys.place(domain, 'computation', 'word#by', row.number) });
    await Promise.all(Array.from({ length: 4 }, () => indexRows(table(), [row])));
    expect(await placesIn(domain)).toEqual(places);
    await deleteComputation(table(), { domain, id, permit: allowed });
    await Promise.all([indexRows(table(), [row]), indexRows(table(), [row])]);
    expect(await placesIn(domain)).toEqual([]);
  });

  it('reads 50 rows with what it has of them in one call, and writes 25 places in one', async () => {
    const domain = newDomain();
    const ids = await Promise.all(Array.from({ length: 60 }, () => aComputation(table(), domain, 'Setosa')));
    const commands: string[] = [];
    const counted = tableThrough(table(), (send, { constructor: { name } }) => {
      commands.push(name);
      return send();
    });
    await indexRows(
      counted,
      ids.map((id) => rowOf(domain, id)),
    );
    const callsOf = (name: string) => commands.filter((each) => each === name).length;
    expect([callsOf('BatchGetCommand'), callsOf('BatchWriteCommand'), callsOf('PutCommand')]).toEqual([2, 3, 60]);
    expect(await found(domain, 'setosa', { limit: 50 })).toEqual(ids.toSorted().reverse().slice(0, 50));
  });

  it('names the other rows if one fails', async () => {
    const domain = newDomain();
    const [damaged, ...others] = await Promise.all(Array.from({ length: 14 }, () => aComputation(table(), domain, 'Iris')));
    const rows = [damaged ?? '', ...others].map((id) => rowOf(domain, id));
    await putItem(table(), { ...findKeys.known(domain, 'computation', numberOf(damaged ?? '') ?? 0), known_name: 1 });
    await expect(indexRows(table(), rows)).rejects.toThrow('indexed name');
    expect((await found(domain, 'iris', { limit: 50 })).toSorted()).toEqual(others.toSorted());
  });

  it('is made anew from the rows, without what is no row of it', async () => {
    const domain = newDomain();
    const id = await aComputation(table(), domain, 'Iris by region');
    await indexRows(table(), [rowOf(domain, id)]);
    const places = await placesIn(domain);
    await putItem(table(), { ...findKeys.place(domain, 'computation', 'word#stray', 99) });
    await deleteItems(table(), [findKeys.place(domain, 'computation', 'word#by', numberOf(id) ?? 0)]);
    expect(await rebuildNames(table(), { domain, kind: 'computation' })).toBe(1);
    expect(await placesIn(domain)).toEqual(places);
  });

  it('leaves out a row that has another name by now', async () => {
    const domain = newDomain();
    const id = await aComputation(table(), domain, 'Setosa');
    await putItem(table(), { ...findKeys.place(domain, 'computation', 'name#iris', numberOf(id) ?? 0) });
    expect(await found(domain, 'iris')).toEqual([]);
  });
});
