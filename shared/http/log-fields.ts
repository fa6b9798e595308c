import type { Route } from './route.ts';

const stableNames: Record<string, string> = { domainID: 'domain', computationID: 'computation_id', cvmID: 'cvm_id' };

/** Returns the log fields of a request's path: `domain`, `computation_id`, `asset_id`, `cvm_id`. Tasks use the same names. */
export function logFieldsOf(
  route: Pick<Route, 'path'>,
  parameters: Record<string, string | undefined> | null | undefined,
): Record<string, unknown> {
  const id = route.path.startsWith('/{domainID}/assets/') ? 'asset_id' : 'computation_id';
  return Object.fromEntries(
    Object.entries(parameters ?? {}).map(([name, value]) => [name === 'id' ? id : (stableNames[name] ?? name), value]),
  );
}
