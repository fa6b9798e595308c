import { describe, expect, it } from 'vitest';
import { logFieldsOf } from '../../../shared/http/log-fields.ts';
import { routes } from '../../../shared/endpoints/endpoints.ts';
import type { Route } from '../../../shared/http/route.ts';

const known = new Set(['domain', 'computation_id', 'asset_id', 'cvm_id']);
const parametersOf = ({ path }: Route) => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

describe('the log fields of a request', () => {
  it.each(routes)('have a stable name for each parameter of $method $path', (route: Route) => {
    const names = parametersOf(route);
    const fields = logFieldsOf(route, Object.fromEntries(names.map((name) => [name, `the ${name}`])));
    expect(Object.keys(fields).filter((name) => !known.has(name))).toEqual([]);
    expect(Object.values(fields)).toEqual(names.map((name) => `the ${name}`));
  });

  it.each([
    ['/{domainID}/computations/{id}', { domainID: 'd1', id: 'x' }, { domain: 'd1', computation_id: 'x' }],
    ['/{domainID}/assets/{id}', { domainID: 'd1', id: 'x' }, { domain: 'd1', asset_id: 'x' }],
    [
      '/{domainID}/assets/{id}/{computationID}',
      { domainID: 'd1', id: 'x', computationID: 'y' },
      { domain: 'd1', asset_id: 'x', computation_id: 'y' },
    ],
    ['/{domainID}/cvms/{cvmID}/commands', { domainID: 'd1', cvmID: 'x' }, { domain: 'd1', cvm_id: 'x' }],
    ['/health', undefined, {}],
  ])('name the resources of the path %s', (path, parameters, fields) => {
    expect(logFieldsOf({ path }, parameters)).toEqual(fields);
  });
});
