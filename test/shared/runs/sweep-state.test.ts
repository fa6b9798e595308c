import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTurn, readSweepState, writeSweepState } from '../../../shared/runs/sweep-runs.ts';
import { sweepKeys } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { startEmbeddedTable, type EmbeddedTable } from '../../support/embedded-table.ts';

const cvm = (domain: string, cvm_id: string) => ({ domain, cvm_id });
const a = cvm('a', '2');
const b = cvm('b', '1');
const c = cvm('b', '2');

describe('inTurn', () => {
  it('begins with the first CVM by domain and identifier if none was looked at before', () => {
    expect(inTurn([c, a, b], undefined)).toEqual([a, b, c]);
  });

  it.each([
    ['the first', a, [b, c, a]],
    ['one between', b, [c, a, b]],
    ['the last', c, [a, b, c]],
    ['a CVM before all', cvm('a', '1'), [a, b, c]],
    ['a CVM that is gone', cvm('a', '3'), [b, c, a]],
    ['a CVM behind all', cvm('c', ''), [a, b, c]],
  ])('goes on after %s, then around', (_what, last, expected) => {
    expect(inTurn([c, a, b], last)).toEqual(expected);
  });

  it('looks again at a CVM that is the only one', () => {
    expect(inTurn([a], a)).toEqual([a]);
  });

  it('keeps the order of claims of the same CVM, and leaves the given list as it is', () => {
    const claims = [
      { ...b, id: 1 },
      { ...a, id: 2 },
      { ...b, id: 3 },
    ];
    expect(inTurn(claims, undefined).map(({ id }) => id)).toEqual([2, 1, 3]);
    expect(claims.map(({ id }) => id)).toEqual([1, 2, 3]);
  });
});

describe('the state of the sweep', () => {
  let embedded: EmbeddedTable;
  beforeAll(async () => {
    embedded = await startEmbeddedTable();
  });
  afterAll(() => embedded.stop());

  it('is empty before the first sweep, and then keeps the CVM of each kind of claim', async () => {
    const { table } = embedded;
    expect(await readSweepState(table)).toEqual({});
    await writeSweepState(table, { suspect: a, other: b });
    expect(await readSweepState(table)).toMatchObject({ suspect: a, other: b });
    await writeSweepState(table, { suspect: undefined, other: c });
    expect(await readSweepState(table)).toEqual({ other: c });
    await writeSweepState(table, { suspect: b });
    expect(await readSweepState(table)).toEqual({ suspect: b });
  });

  it('contains the CVMs of claims and nothing else of them', async () => {
    const claim = (of: typeof a) => ({ ...of, run_id: 'run', offer_token: 'secret' });
    await writeSweepState(embedded.table, { suspect: claim(a), other: claim(b) });
    expect(await getItem(embedded.table, sweepKeys.state)).toEqual({ ...sweepKeys.state, suspect: a, other: b });
  });
});
