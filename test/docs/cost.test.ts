import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { busBills } from '../../docs/cost/bus-bill.ts';
import { canaryBills } from '../../docs/cost/canary-bill.ts';
import { costPage } from '../../docs/cost/cost-page.ts';
import { readMeasured } from '../../docs/cost/measured.ts';
import { addUp, dollars } from '../../docs/cost/prices.ts';
import { transitionsOf } from '../../docs/cost/transitions.ts';
import { connectedCvmBill } from '../../docs/cost/gateway-bill.ts';
import { rotationsCharged, stageBills } from '../../docs/cost/stage-bill.ts';
import { readTemplates } from '../../docs/cost/template-figures.ts';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks } from '../../shared/tasks/tasks.ts';

const measured = readMeasured();

describe('docs/cost.md', () => {
  it('is up to date with the measured figures (`npm run docs:cost` updates it)', () => {
    expect(readFileSync(new URL('../../docs/cost.md', import.meta.url), 'utf8')).toBe(costPage(measured));
  });

  it('covers every function (`npm run docs:cost` measures a new one)', () => {
    const names = new Set(measured.functions.map(({ name }) => name));
    expect([...names].sort()).toEqual([...new Set([...routes, ...tasks].map(({ name }) => name))].sort());
  });

  it('counts the alarms, keys and dashboards that the templates have (`npm run docs:cost -- --templates` updates them)', () => {
    expect(measured.stage).toEqual(readTemplates());
  });
});

describe('stageBills', () => {
  it('add up to less than $17 a month for a stage that nobody uses, however old it is', () => {
    const bills = Object.values(stageBills(measured, rotationsCharged));
    expect(dollars(addUp(bills.map((bill) => [1, bill])))).toBeLessThan(17);
  });

  it('have no traces of scheduled functions, which Lambda would take of every call', () => {
    expect(stageBills(measured, 0)['schedules']?.['X-Ray trace recorded']).toBe(0);
  });
});

describe('canaryBills', () => {
  it('add up to less than $6 a month for a call every 15 minutes, with the metrics of a stage that nobody else uses', () => {
    expect(dollars(addUp(Object.values(canaryBills(measured)).map((bill) => [1, bill])))).toBeLessThan(6);
  });
});

describe('the price of a canary', () => {
  const bills = Object.values(canaryBills(measured));

  it('has a trace of each call, because Lambda traces all that are a second apart', () => {
    const { 'X-Ray trace recorded': traces = 0, 'HTTP API request': requests = 0 } = addUp(bills.map((bill) => [1, bill]));
    expect(traces).toBeGreaterThan(requests);
  });

  it('is that of docs/deploy.md', () => {
    const total = dollars(addUp(bills.map((bill) => [1, bill]))).toFixed(2);
    expect(readFileSync(new URL('../../docs/deploy.md', import.meta.url), 'utf8')).toContain(
      `$${total} a month at every 15 minutes`,
    );
  });
});

describe('busBills', () => {
  it('add up to less than $9 a month for an event bus without events', () => {
    expect(dollars(addUp(Object.values(busBills()).map((bill) => [1, bill])))).toBeLessThan(9);
  });
});

describe('connectedCvmBill', () => {
  it('adds up to less than 5 cents a month for a CVM without a run', () => {
    expect(dollars(connectedCvmBill())).toBeLessThan(0.05);
  });
});

describe('transitionsOf', () => {
  it('counts 6 transitions of a run and of a stop: the states on the way, the start and the end', () => {
    expect({ run: transitionsOf('run'), stop: transitionsOf('stop') }).toEqual({ run: 6, stop: 6 });
  });
});

describe('addUp', () => {
  it('multiplies each bill by its count and adds them up by item', () => {
    const bill = addUp([
      [2, { 'S3 PUT': 1, 'S3 GET': 1 }],
      [3, { 'S3 PUT': 1 }],
    ]);
    expect(bill).toEqual({ 'S3 PUT': 5, 'S3 GET': 2 });
    expect(dollars(bill)).toBeCloseTo(5 * 5e-6 + 2 * 4e-7, 12);
  });
});
