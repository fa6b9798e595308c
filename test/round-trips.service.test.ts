import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { measureEndpoints, type Measurement } from './bench/measure-endpoints.ts';
import { routes } from '../shared/endpoints/endpoints.ts';
import { tasks } from '../shared/tasks/tasks.ts';
import { keyedNames } from './support/keyed-requests.ts';

let measurements: Measurement[];
beforeAll(async () => {
  measurements = await measureEndpoints();
});

function measured(name: string, what = '', key?: Measurement['key']): Measurement {
  const found = measurements.find((each) => each.name === name && each.case === what && each.key === key);
  if (!found) throw new Error(`${name} has no case ${what}.`);
  return found;
}

describe('the first request with an Idempotency-Key', () => {
  it('takes two write units more than without one, and reads no more, except before inline content is stored', () => {
    for (const { name, case: what, readUnits, writeUnits } of measurements.filter(({ key }) => key === 'first')) {
      const without = measured(name, what);
      const reads = what === 'inline' || what === 'with content' ? 1 : 0;
      expect([name, what, readUnits - without.readUnits, writeUnits - without.writeUnits]).toEqual([name, what, reads, 2]);
    }
  });
});

describe('the round trips to the table', () => {
  it.each([
    ['computations/get-computation', 'whole'],
    ['computations/get-computation', 'peek'],
    ['assets/get-asset', 'by its creator'],
    ['assets/get-asset', 'by others, withheld'],
    ['runs/get-run', 'the latest'],
    ['runs/get-run', 'an older one'],
    ['runs/get-manifest', 'of a run'],
    ['keys/check-key', ''],
    ['events/get-status', ''],
    ['statistics/get-statistics', '7 days'],
  ])('are one for %s %s', (name, what) => {
    expect(measured(name, what).roundTrips).toBe(1);
  });

  it.each([
    ['computations/list-computations', 'first page'],
    ['computations/list-computations', 'first page, by status'],
    ['assets/list-assets', 'first page'],
    ['runs/list-runs', 'first page'],
    ['events/list-events', 'first page'],
  ])('are one for %s, %s', (name, what) => {
    expect(measured(name, what).roundTrips).toBe(1);
  });

  it('are two for the computations that an asset is linked to: one for the links, one for the rows', () => {
    expect(measured('assets/list-linked-computations', 'first page').roundTrips).toBe(2);
  });

  it('are two for a read of content by others: one to read, one to record it', () => {
    expect(measured('assets/get-asset', 'by others, recorded')).toMatchObject({ roundTrips: 2, writeUnits: 1 });
  });

  it('are one for the poll of a CVM that has nothing to do, which takes two read units', () => {
    expect(measured('cvms/list-commands', 'none')).toMatchObject({ roundTrips: 1, readUnits: 2, writeUnits: 0 });
  });

  it('are at most two for creating a computation', () => {
    expect(measured('computations/create-computation').roundTrips).toBeLessThanOrEqual(2);
  });

  it('are at most three for any page of a list, and for any other read', () => {
    const reads = measurements.filter(({ writeUnits, endpoint, key }) => endpoint !== undefined && !key && writeUnits === 0);
    expect(reads.filter(({ roundTrips }) => roundTrips > 3)).toEqual([]);
  });

  it('are as many with an Idempotency-Key as without one, except before inline content is stored', () => {
    const firsts = measurements.filter(({ key }) => key === 'first');
    expect(new Set(firsts.map(({ name }) => name))).toEqual(new Set([...keyedNames, 'releases/answer-release']));
    const more = firsts.map((first) => [
      `${first.name}, ${first.case}`,
      first.roundTrips - measured(first.name, first.case).roundTrips,
    ]);
    expect(more.filter(([, count]) => count !== 0)).toEqual([['assets/update-asset, with content', 1]]);
  });

  it('are measured for every function', () => {
    const names = new Set(measurements.map(({ name }) => name));
    // These take the evidence of a guest of a run, once, which test/shared/releases makes.
    const ofGuests = ['releases/attest', 'releases/get-key'];
    // This takes a form and the link of a mail, which test/shared/notifications makes.
    const ofMails = ['notifications/unsubscribe'];
    expect(
      [...routes, ...tasks]
        .filter(({ name }) => !names.has(name))
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...ofMails, ...ofGuests]);
  });
});

describe('docs/cost.md', () => {
  interface Row extends Pick<Measurement, 'roundTrips' | 'readUnits' | 'writeUnits'> {
    call: string;
    price: number;
  }
  const page = readFileSync(new URL('../docs/cost.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (\w+\/.*)\|$/gm)].flatMap(([, row = '']): Row[] => {
    const [calls = '', roundTrips, readUnits, writeUnits, price = ''] = row.split('|').map((cell) => cell.trim());
    const units = { roundTrips: Number(roundTrips), readUnits: Number(readUnits), writeUnits: Number(writeUnits) };
    return calls.split('; ').map((call) => ({ call, ...units, price: parseFloat(price) }));
  });

  it('has what was measured of each call', () => {
    const withoutKey = measurements.filter(({ key }) => !key);
    const expected = withoutKey.map(({ name, case: what, roundTrips, readUnits, writeUnits }) => {
      return [what ? `${name}, ${what}` : name, roundTrips, readUnits, writeUnits];
    });
    const inPage = rows.map(({ call, roundTrips, readUnits, writeUnits }) => [call, roundTrips, readUnits, writeUnits]);
    // A busy machine looks once or twice less in 20 seconds.
    const isExact = ([call]: unknown[]) => !String(call).includes('held for 20 s');
    expect(inPage.filter(isExact).sort()).toEqual(expected.filter(isExact).sort());
    for (const { name, case: what, roundTrips } of withoutKey.filter(({ case: each }) => !isExact([each]))) {
      const row = rows.find(({ call }) => call === `${name}, ${what}`);
      expect([0, 1, 2], `${name}, ${what}`).toContain((row?.roundTrips ?? 0) - roundTrips);
    }
  });

  it('prices each call by its round trips and units', () => {
    const byAws = (call: string) => tasks.some(({ name }) => call.split(',')[0] === name);
    for (const { call, roundTrips, readUnits, writeUnits, price } of rows) {
      const expected = (byAws(call) ? 1 : 2.4) + 0.03 * roundTrips + 0.125 * readUnits + 0.625 * writeUnits;
      expect(Math.abs(price - expected), call).toBeLessThan(0.06);
    }
  });
});
