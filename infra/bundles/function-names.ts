import { routes, type RouteName } from '../../shared/endpoints/endpoints.ts';
import { tasks, type TaskName } from '../../shared/tasks/tasks.ts';

/** A function's file in functions/, without its extension. */
export type FunctionName = RouteName | TaskName;

/** The functions of the service, without duplicates. */
export const functionNames: readonly FunctionName[] = [...new Set([...routes, ...tasks].map(({ name }) => name))];
