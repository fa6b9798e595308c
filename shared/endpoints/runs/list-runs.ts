import * as v from 'valibot';
import { runSchema, runStatuses } from '../../computations/run.ts';
import type { Contract, Examples } from '../../http/contract.ts';
import { entriesOf, pageEnvelope, paging } from '../../http/paging.ts';
import { comparedId } from '../../identifier-schemas.ts';
import type { Route } from '../../http/route.ts';
import { run } from '../samples.ts';
import { strictObject } from '../../strict-object.ts';
import { reads } from '../../uses.ts';

export const route = {
  name: 'runs/list-runs',
  endpoint: 8,
  method: 'GET',
  path: '/{domainID}/computations/runs',
  summary: 'List runs, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list runs.',
} as const satisfies Route;

export const contract = {
  query: strictObject({
    ...paging,
    status: v.optional(v.pipe(v.picklist(runStatuses), v.description('Return only runs with this status.'))),
    computation_id: v.optional(
      v.pipe(comparedId(), v.description('Return only runs of this computation.'), v.metadata({ format: 'uuid' })),
    ),
  }),
  status: 200,
  response: v.pipe(
    v.object({ runs: entriesOf(runSchema, 'The runs, newest first.'), ...pageEnvelope }),
    v.title('RunPage'),
    v.description('A page of the list of runs.'),
  ),
} as const satisfies Contract;

export const examples = { response: { runs: [run], limit: 10, offset: 0, total: 1 } } satisfies Examples<typeof contract>;
