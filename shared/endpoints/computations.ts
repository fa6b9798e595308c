import { strictObject, text } from 'computation-management-formats/fields';
import { computationStatuses } from 'computation-management-formats/vocabulary';
import * as v from 'valibot';
import {
  computationInput,
  computationReplacement,
  computationRow,
  computationSchema,
  computationView,
} from '../rows/computation.ts';
import { type Route, entriesOf, ifSent, pageOf, paging } from '../http/route.ts';
import { adds, appends, changes, reads } from '../runtime/uses.ts';

export const computationPage = pageOf('ComputationPage', 'A page of a list of computations.', {
  computations: entriesOf(computationRow, 'The computations, newest first, or the last changed first with `sort=updated`.'),
});

export const createComputationRoute = {
  name: 'computations/create-computation',
  endpoint: 1,
  method: 'POST',
  path: '/{domainID}/computations',
  summary: 'Create a computation',
  access: { anyOf: ['create_computation'] },
  uses: { table: adds, sealingKey: ['GenerateDataKey', 'Decrypt'] },
  impact: 'Users cannot create computations.',
  body: computationInput,
  status: 201,
  response: computationSchema,
  etag: true,
  headers: {
    Location: 'The path of the computation.',
    'HX-Location': '`/computations/{id}`, for front ends that follow this header.',
  },
} as const satisfies Route;

export const listComputationsRoute = {
  name: 'computations/list-computations',
  endpoint: 2,
  method: 'GET',
  path: '/{domainID}/computations',
  summary: 'List computations, newest first',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  impact: 'Users cannot list computations.',
  query: strictObject({
    ...paging,
    status: ifSent(v.picklist(computationStatuses), 'Return only computations with this status.'),
    owner: ifSent(text(1, 255), "Return only computations of this owner, a user's `sub`."),
    waiting_for: ifSent(
      text(1, 255),
      'Return only computations that wait for this user, a `sub` or `me`, as in the open tasks. A change counts within 5 seconds. ' +
        'Cannot be combined with `owner`.',
    ),
    sort: ifSent(
      v.picklist(['updated']),
      'Sort by `updated_at`, the latest first. A change counts within 5 seconds. Can be combined with no filter but `waiting_for`. ' +
        'Default: newest first.',
    ),
  }),
  response: computationPage,
} as const satisfies Route;

export const getComputationRoute = {
  name: 'computations/get-computation',
  endpoint: 3,
  method: 'GET',
  path: '/{domainID}/computations/{id}',
  summary: 'Get a computation',
  access: { anyOf: ['view'] },
  uses: { table: reads, sealingKey: ['Decrypt'] },
  impact: 'Users cannot open a computation.',
  query: strictObject({
    peek: ifSent(
      v.picklist(['true', 'false']),
      'If `true`, returns only the fields that a list entry has: no configuration, assets or run. Default `false`.',
    ),
  }),
  response: computationView,
  etag: true,
  condition: 'if-none-match',
} as const satisfies Route;

export const updateComputationRoute = {
  name: 'computations/update-computation',
  endpoint: 4,
  method: 'PUT',
  path: '/{domainID}/computations/{id}',
  summary: 'Replace a computation',
  access: { anyOf: ['edit'], or: ['owner'] },
  uses: { table: appends, sealingKey: ['GenerateDataKey', 'Decrypt'] },
  impact: 'Users cannot change computations.',
  body: computationReplacement,
  response: computationSchema,
  etag: true,
  condition: 'if-match',
  description:
    'Replaces all fields. A field that you omit is reset to its default, except `owner`, `approval`, `log_access`, ' +
    '`attestation_policy`, `result_review`, `consumers` and `providers`, which stay the same.',
} as const satisfies Route;

export const deleteComputationRoute = {
  name: 'computations/delete-computation',
  endpoint: 5,
  method: 'DELETE',
  path: '/{domainID}/computations/{id}',
  summary: 'Delete a computation',
  access: { anyOf: ['administer'], or: ['owner'] },
  uses: { table: [...changes, 'BatchWriteItem'], purge: ['InvokeFunction'] },
  isExpensive: true,
  impact: 'Users cannot delete computations.',
  condition: 'if-match',
  reasons: ['run_active'],
  description: 'Also deletes its events, runs, keys and links. Returns 409 while a run is active.',
} as const satisfies Route;
