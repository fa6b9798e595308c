import { randomUUID } from 'node:crypto';
import { numberOf } from 'computation-management-formats/identifiers';
import { describe, expect, it } from 'vitest';
import { registerCvm } from '../../../shared/cvms/register-cvm.ts';
import { updateComputation } from '../../../shared/computations/update-computation.ts';
import { fieldsOf } from '../../../shared/rows/computation.ts';
import { deleteComputation } from '../../../shared/computations/delete-computation.ts';
import { find } from '../../../shared/find/find.ts';
import { indexRows, type NamedRow, rebuildNames } from '../../../shared/find/index-names.ts';
import { findKeys } from '../../../shared/table/keys.ts';
import { deleteItems, putItem } from '../../../shared/table/writes.ts';
import { tableThrough } from '../../support/embedded-table.ts';
import { sharedByTests } from '../../support/shared-by-tests.ts';
import { aComputation, allowed, anAsset, aReviewedRun, byAlice, startStores } from '../../support/builders-store.ts';
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
  (await find(table(), { domain, query, limit: 20, ...more })).matches.map(({ id }) => id);

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
    await registerCvm(table(), { by: 'root', domain, cvmId: 'iris-1', given: { description: '' }, now: byAlice.now });
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
    const places = await placesIn(domain);
    const ofRow = `of#${String(row.number).padStart(15, '0')}`;
    expect(places).toEqual([expect.stringMatching(/^exact#/), ofRow, 'word#by', 'word#iris', 'word#region']);
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
    expect([callsOf('BatchGetCommand'), callsOf('BatchWriteCommand'), callsOf('PutCommand')]).toEqual([2, 5, 60]);
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

  it('has no results of runs, also when it is made anew', async () => {
    const { domain } = await aReviewedRun(stores, `d-${randomUUID().slice(0, 8)}`, 'handed in');
    expect(await rebuildNames(table(), { domain, kind: 'asset' })).toBe(2);
    expect(await found(domain, 'counts')).toEqual([]);
    expect(await found(domain, 'counts.csv', { kind: 'asset' })).toEqual([]);
  });

  it('leaves out a row that has another name by now', async () => {
    const domain = newDomain();
    const id = await aComputation(table(), domain, 'Setosa');
    await putItem(table(), { ...findKeys.place(domain, 'computation', 'word#iris', numberOf(id) ?? 0) });
    expect(await found(domain, 'iris')).toEqual([]);
  });

  it('takes the words of a text in any order, and reads the rows of the rarest', async () => {
    const domain = newDomain();
    const names = ['Body mass of penguins', 'Penguins, by mass', ...Array.from({ length: 60 }, (_, index) => `Mass ${index}`)];
    const ids = await Promise.all(names.map((name) => aComputation(table(), domain, name)));
    await indexRows(
      table(),
      ids.map((id) => rowOf(domain, id)),
    );
    const both = { domain, query: 'MASS peng', limit: 20 };
    expect(await find(table(), both)).toMatchObject({ matches: [{ id: ids[0] }, { id: ids[1] }], truncated: false });
    expect(await find(table(), { ...both, query: 'penguins body' })).toMatchObject({
      matches: [{ id: ids[0] }],
      truncated: false,
    });
    expect(await find(table(), { ...both, query: 'penguins mass zebra' })).toEqual({ matches: [], truncated: false });
  });

  it('finds the whole name at any length, whoever names others alike, and tells that there are more', async () => {
    const domain = newDomain();
    const name = `${'Body mass '.repeat(19)}of one`;
    const mine = await aComputation(table(), domain, name, [], 'victim');
    const more = Array.from({ length: 60 }, (_, index) => aComputation(table(), domain, `${name} ${index}`, [], 'mallory'));
    const ids = await Promise.all(more);
    await indexRows(
      table(),
      [mine, ...ids].map((id) => rowOf(domain, id)),
    );
    const asked = { domain, query: name.toUpperCase(), kind: 'computation', limit: 20 } as const;
    expect(await find(table(), asked)).toMatchObject({ matches: [{ id: mine, owner: 'victim' }], truncated: false });
    expect(await find(table(), { ...asked, query: 'Mass body' })).toMatchObject({ truncated: true });
    expect(await find(table(), { ...asked, exact: true })).toMatchObject({ matches: [{ id: mine }], truncated: false });
    const same = Array.from({ length: 60 }, () => aComputation(table(), domain, name, [], 'mallory'));
    await indexRows(
      table(),
      (await Promise.all(same)).map((id) => rowOf(domain, id)),
    );
    expect(await find(table(), { ...asked, exact: true, limit: 50 })).toMatchObject({ truncated: true });
    const ofVictim = { matches: [{ id: mine, owner: 'victim' }], truncated: false };
    expect(await find(table(), { ...asked, exact: true, owner: 'victim' })).toMatchObject(ofVictim);
  });

  it('reads the same in a domain of any size', async () => {
    const [small, large] = [newDomain(), newDomain()];
    for (const [domain, count] of [
      [small, 51],
      [large, 110],
    ] as const) {
      const ids = await Promise.all(Array.from({ length: count }, () => aComputation(table(), domain, 'Iris by region')));
      await indexRows(
        table(),
        ids.map((id) => rowOf(domain, id)),
      );
    }
    const readBy = async (domain: string) => {
      const read: number[] = [];
      const counted = tableThrough(table(), async (send) => {
        const answer = await send();
        const { Items = [], Responses = {} } = answer as { Items?: unknown[]; Responses?: Record<string, unknown[]> };
        read.push(Items.length + Object.values(Responses).flat().length);
        return answer;
      });
      const { truncated } = await find(counted, { domain, query: 'region iris', kind: 'computation', limit: 50 });
      expect(truncated).toBe(true);
      return read.sort((one, other) => one - other);
    };
    expect(await readBy(large)).toEqual(await readBy(small));
  });

  it('follows the owner of a computation', async () => {
    const domain = newDomain();
    const id = await aComputation(table(), domain, 'Iris');
    await indexRows(table(), [rowOf(domain, id)]);
    await updateComputation(table(), {
      domain,
      id,
      ...byAlice,
      seal: ({ plain }) => Promise.resolve({ digest: '', sealed: plain }),
      decide: (row, definition) => ({
        ...definition,
        fields: fieldsOf(row, { ...row, owner: 'bob' }),
        agent_config: { ...definition.agent_config, server_key: '' },
        permitted: allowed(),
      }),
    });
    await indexRows(table(), [rowOf(domain, id)]);
    expect([await found(domain, 'iris', { owner: 'alice' }), await found(domain, 'iris', { owner: 'bob' })]).toEqual([[], [id]]);
    expect(await placesIn(domain)).toHaveLength(3);
  });
});
