/**
 * The interface of `shared/runs`, which starts, stops and reads runs. Code outside of this folder, except for the handlers of
 * runs, imports only these names.
 */

export { readRunOfComputation } from './read-runs.ts';
export { stopRun } from './stop-run.ts';
