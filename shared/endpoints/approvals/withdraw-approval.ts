import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';

export const route = {
  name: 'approvals/withdraw-approval',
  method: 'DELETE',
  path: '/{domainID}/computations/{id}/approvals',
  summary: 'Withdraw your approval',
  access: { anyOf: ['view'] },
  uses: { table: ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem'] },
  impact: 'Users cannot withdraw their approvals.',
} as const satisfies Route;

export const contract = {
  status: 204,
  errors: ['not_found'],
  description: 'Also succeeds if you have not approved. Does not stop active runs.',
} as const satisfies Contract;

export const examples = {} satisfies Examples<typeof contract>;
