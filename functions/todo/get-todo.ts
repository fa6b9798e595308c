import { getTodoRoute } from '../../shared/endpoints/todo.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { openTable } from '../../shared/table/table.ts';
import { readTodo } from '../../shared/todo/read-todo.ts';

export const handler = endpoint(getTodoRoute, async ({ path, caller, now, deadline }) => ({
  body: await readTodo(openTable(deadline), path.domainID, caller.id, now),
}));
