import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';

export const route = {
  name: 'cvms/delete-cvm',
  method: 'DELETE',
  path: '/{domainID}/cvms/{cvmID}',
  summary: 'Remove a registered CVM',
  access: { anyOf: ['administer'] },
  uses: { table: [...changesLists, 'ConditionCheckItem'] },
  impact: 'Administrators cannot remove CVMs.',
} as const satisfies Route;

export const contract = {
  status: 204,
  condition: 'if-match',
  errors: ['not_found', 'conflict'],
  reasons: ['cvm_busy'],
  description: 'Also deletes the presence of the CVM. Keeps its past runs. Returns 409 while a run holds the CVM.',
} as const satisfies Contract;

export const examples = {} satisfies Examples<typeof contract>;
