import * as v from 'valibot';
import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { cvmId, identifier } from '../../identifier-schemas.ts';
import { strictObject } from '../../strict-object.ts';
import { changesLists } from '../../uses.ts';
import { runId } from '../samples.ts';

export const route = {
  name: 'runs/start-run',
  endpoint: 6,
  method: 'POST',
  path: '/{domainID}/computations/{id}/run',
  summary: 'Start a run',
  access: { anyOf: ['run'], or: ['owner'] },
  uses: { table: changesLists, stateMachine: ['StartExecution'] },
  impact: 'Users cannot start runs.',
} as const satisfies Route;

export const contract = {
  query: strictObject({ cvm: v.pipe(cvmId, v.description('The CVM to run on.')) }),
  status: 200,
  response: v.pipe(identifier, v.title('RunId'), v.description('The identifier of the run, as a JSON string.')),
  errors: ['not_found', 'conflict', 'incomplete'],
  reasons: ['run_active', 'cvm_busy', 'cvm_not_ready'],
  description:
    'Runs the computation on a CVM. A 409 with the reason `run_active` or `cvm_busy` contains the conflicting run in `run_id`. If you ' +
    'lost the response to an earlier request, `run_id` shows the run that this request started.',
} as const satisfies Contract;

export const examples = { response: runId } satisfies Examples<typeof contract>;
