import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { tasks, type TaskName } from '../../shared/tasks/tasks.ts';

/** A function's file below functions/, without its ending. */
export type FunctionName = RouteName | TaskName;

/** Every function of the service, once. */
export const functionNames: readonly FunctionName[] = [...new Set([...routes, ...tasks].map(({ name }) => name))];
