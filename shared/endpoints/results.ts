import { strictObject } from 'computation-management-formats/fields';
import { type Route, runParameter } from '../http/route.ts';
import { resultDecisionInput, resultInput } from '../results/result-input.ts';
import { assetSchema } from '../rows/asset.ts';
import { runSchema } from '../rows/run.ts';
import { adds } from '../runtime/uses.ts';

const query = strictObject({ run: runParameter });

export const handInResultRoute = {
  name: 'results/hand-in-result',
  method: 'POST',
  path: '/{domainID}/computations/{id}/result',
  summary: 'Hand in the result of a run for review',
  access: { anyOf: [], or: ['reviewer'] },
  uses: { table: [...adds, 'DeleteItem', 'ConditionCheckItem'], content: ['PutObject'] },
  impact: 'Reviewers cannot hand in results, so no result is released.',
  query,
  body: resultInput,
  status: 201,
  response: assetSchema,
  headers: { Location: 'The path of the asset.' },
  reasons: ['run_not_completed', 'result_decided'],
  description:
    'A reviewer fetches the result of a completed run from its CVM, and hands it in here. Creates an asset of the type `result`: upload the ' +
    'file with the presigned request in `upload`. The result is under review once a file with this `checksum` and `size` has arrived. ' +
    'Until the first decision, another file takes the place of the one handed in before. The reviewers of the run may read it, and ' +
    'after its release the consumers. Reviewers are those of the computation when the run started.',
} as const satisfies Route;

export const decideResultRoute = {
  name: 'results/decide-result',
  method: 'POST',
  path: '/{domainID}/computations/{id}/result/decision',
  summary: 'Release or withhold the result of a run',
  access: { anyOf: [], or: ['reviewer'] },
  uses: { table: [...adds, 'ConditionCheckItem'] },
  impact: 'Reviewers cannot decide on results, so no result is released.',
  query,
  body: resultDecisionInput,
  response: runSchema,
  reasons: ['no_result', 'run_not_completed', 'other_file', 'already_decided', 'result_decided'],
  description:
    'Each reviewer decides once, and for good. As many releases as the review needs release the result to the consumers of the run. Once ' +
    'so many reviewers withhold it that this cannot happen any more, it is withheld. Returns the run.',
} as const satisfies Route;
