import type { Route } from '../http/route.ts';
import { todoSchema } from '../todo/todo.ts';
import { reads } from '../runtime/uses.ts';

export const getTodo = {
  name: 'todo/get-todo',
  method: 'GET',
  path: '/{domainID}/todo',
  summary: 'List your open tasks: approvals, keys and content',
  access: { anyOf: ['view'] },
  uses: { table: reads },
  reserves: 'slowReads',
  isExpensive: true,
  impact: 'Users cannot see their open tasks.',
  status: 200,
  response: todoSchema,
  description:
    'Each list has up to 100 entries, newest first. `approvals` and `keys` cover the newest computations in which you take part: ' +
    'as the owner, with an asset or a key, or as a consumer that the computation names. They cover up to 300 computations, or ' +
    'fewer if the computations have many assets.',
} as const satisfies Route;
