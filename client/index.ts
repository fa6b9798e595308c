/** The entry `computation-management-client`, for browsers and Node. */
export type { Schemas } from './api-types.ts';
export { type Client, type ClientOptions, createClient } from './create-client.ts';
export type { Arguments, CallOptions, Data, Operation } from './operation.ts';
export { type Item, items, type ListOperation, type Page, page, pages } from './pages.ts';
export type { RetryOptions, Token } from './retrying-fetch.ts';
export { type ProblemCode, ServiceProblem } from './service-problem.ts';
export { watchEvents, type WatchOptions } from './watch-events.ts';
export { isEndOfRun, waitForRun, watchRun, type WatchRunOptions } from './watch-run.ts';
