import { runSchema } from '../../computations/run.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { stoppingRun } from '../samples.ts';
import { changesLists } from '../../uses.ts';

export const route = {
  name: 'runs/stop-run',
  endpoint: 13,
  method: 'POST',
  path: '/{domainID}/computations/{id}/stop',
  summary: 'Stop a run',
  access: { anyOf: ['run'], or: ['owner', 'creator'] },
  uses: { table: changesLists, stateMachine: ['StartExecution'] },
  impact: 'Users cannot stop runs.',
} as const satisfies Route;

export const contract = {
  status: 200,
  response: runSchema,
  errors: ['not_found', 'conflict'],
  reasons: ['nothing_to_stop'],
  description:
    'Stops the active run of the computation. Repeating the request while the run is stopping returns the same response. ' +
    'If the CVM does not confirm the stop in time, the run ends as `cancelled`. The creator of an asset that the run uses may stop ' +
    'it too.',
} as const satisfies Contract;

export const examples = { response: stoppingRun } satisfies Examples<typeof contract>;
