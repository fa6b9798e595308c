export { readRunOfComputation } from './read-runs.ts';
export { stopRun } from './stop-run.ts';
