import type { Contract, Examples } from '../../http/contract.ts';
import type { Route } from '../../http/route.ts';
import { changesLists } from '../../uses.ts';

export const route = {
  name: 'assets/delete-asset',
  endpoint: 19,
  method: 'DELETE',
  path: '/{domainID}/assets/{id}',
  summary: 'Delete an asset',
  access: { anyOf: ['administer'], or: ['creator'] },
  uses: { table: changesLists, purge: ['InvokeFunction'] },
  isExpensive: true,
  impact: 'Users cannot delete assets.',
} as const satisfies Route;

export const contract = {
  status: 204,
  condition: 'if-match',
  errors: ['not_found', 'conflict'],
  reasons: ['asset_in_use'],
  description: 'Also deletes its content and links. Returns 409 while an active run uses the asset.',
} as const satisfies Contract;

export const examples = {} satisfies Examples<typeof contract>;
