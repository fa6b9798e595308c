import { describe, expect, it } from 'vitest';
import { addressOf, placeOf } from '../../../../packages/console/routing/places.ts';

describe('places of the console', () => {
  it.each([
    ['/console/', { screen: 'home' }],
    ['/console', { screen: 'home' }],
    ['/console/domains/d1/computations', { screen: 'computations', domain: 'd1' }],
    ['/console/domains/d1/computations/', { screen: 'computations', domain: 'd1' }],
    ['/console/domains/d1/computations/new', { screen: 'new-computation', domain: 'd1' }],
    ['/console/domains/d1/computations/c1', { screen: 'computation', domain: 'd1', id: 'c1' }],
    ['/console/domains/d1/computations/c1/runs/r1', { screen: 'run', domain: 'd1', id: 'c1', run: 'r1' }],
    ['/console/domains/d1/cvms/a%2Fb%3A1', { screen: 'cvm', domain: 'd1', cvm: 'a/b:1' }],
  ])('%s is a deep link', (address, place) => {
    expect(placeOf(address)).toEqual(place);
  });

  it.each(['/console/elsewhere', '/console/domains/d1', '/console/domains/d1/computations/c1/runs', '/console/%E0%A4%A'])(
    '%s is no place',
    (address) => {
      expect(placeOf(address)).toBeUndefined();
    },
  );

  it('an address leads back to its place', () => {
    const place = { screen: 'cvm', domain: 'd1', cvm: 'cvm ä/1:2?' } as const;
    expect(placeOf(new URL(addressOf(place), 'https://example.com').pathname)).toEqual(place);
  });

  it('an address has the parameters that are given', () => {
    const place = { screen: 'computations', domain: 'd1' } as const;
    expect(addressOf(place, { status: 'failed', owner: '', page: 2, limit: undefined })).toBe(
      '/console/domains/d1/computations?status=failed&page=2',
    );
  });
});
