import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';

export { contract, examples } from './stop-run.ts';

/** The contract has GET too. It is served by the same function as POST. */
export const route = {
  name: 'runs/stop-run',
  endpoint: 13,
  method: 'GET',
  path: '/{domainID}/computations/{id}/stop',
  summary: 'Stop a run (use POST instead)',
  access: { anyOf: ['run'], or: ['owner', 'creator'] },
  uses: { table: changesLists, stateMachine: ['StartExecution'] },
  loses: 'Users cannot stop runs.',
} as const satisfies Route;
