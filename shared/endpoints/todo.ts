import type { Route } from '../http/route.ts';
import { reads } from '../runtime/uses.ts';
import { todoSchema } from '../todo/todo.ts';

export const getTodoRoute = {
  name: 'todo/get-todo',
  method: 'GET',
  path: '/{domainID}/todo',
  summary: 'List your open tasks: approvals, keys and content, refusals and invitations',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  reserves: 'slowReads',
  isExpensive: true,
  impact: 'Users cannot see their open tasks.',
  response: todoSchema,
  description:
    'Each list has up to 100 entries. All but `content` cover computations in which you take part: as the owner, with an asset or a ' +
    'key, or as a consumer, provider or reviewer whom the computation names. Those that you created and own, uploaded a key to or linked an asset to come ' +
    'first. `totals` are exact at any number. A change counts within 5 seconds, the expiry of an approval within a minute.',
} as const satisfies Route;
