import type { Route } from '../../http/route.ts';
import { route as stopRun } from './stop-run.ts';

export { contract, examples } from './stop-run.ts';

/** The contract has GET too. It is served by the same function as POST. */
export const route = {
  ...stopRun,
  method: 'GET',
  summary: 'Stop a run (use POST instead)',
  deprecated: true,
} as const satisfies Route;
