import { describe, expect, it } from 'vitest';
import { addressOf, tabOf, tabQuery } from '../../../../packages/console/routing/places.ts';

const tabs = ['events', 'manifest'] as const;
const run = { screen: 'run', domain: 'd1', id: 'c1', run: 'r1' } as const;

describe('the tab of an address', () => {
  it.each([
    ['events', '/console/domains/d1/computations/c1/runs/r1'],
    ['manifest', '/console/domains/d1/computations/c1/runs/r1?tab=manifest'],
  ] as const)('%s is found by the address that leads to it', (tab, address) => {
    expect(addressOf(run, tabQuery(tab, tabs))).toBe(address);
    expect(tabOf(new URL(address, 'https://example.com').searchParams, tabs)).toBe(tab);
  });

  it('is the first one if the address names another', () => {
    expect(tabOf(new URLSearchParams('tab=elsewhere'), tabs)).toBe('events');
  });
});
