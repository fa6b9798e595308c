import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';

export const route = {
  name: 'computations/delete-computation',
  endpoint: 5,
  method: 'DELETE',
  path: '/{domainID}/computations/{id}',
  summary: 'Delete a computation',
  access: { anyOf: ['administer'], or: ['owner'] },
  uses: { table: changesLists, purge: ['InvokeFunction'] },
  isExpensive: true,
  impact: 'Users cannot delete computations.',
} as const satisfies Route;

export const contract = {
  status: 204,
  condition: 'if-match',
  errors: ['not_found', 'conflict'],
  reasons: ['run_active'],
  description: 'Also deletes its events, runs, keys and links. Returns 409 while a run is active.',
} as const satisfies Contract;

export const examples = {} satisfies Examples<typeof contract>;
