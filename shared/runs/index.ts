export { stopRun } from './stop-run.ts';
