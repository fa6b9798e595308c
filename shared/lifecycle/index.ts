/**
 * The interface of `shared/lifecycle`, which takes runs to their end by executions of a state machine in Step Functions. Code
 * outside of this folder, except for the handlers of the lifecycle, imports only these names.
 */

export { endRun, failRun } from './run-steps.ts';
export {
  completeTask,
  completeWaitingTasks,
  ensureExecution,
  type Executions,
  openExecutions,
  sendHeartbeat,
  startExecution,
  startExecutionByName,
} from './executions.ts';
export { lifecycleSteps, stateMachineDefinition } from './state-machine.ts';
export { readSweepState, writeSweepState } from './sweep-runs.ts';
