export { endRun, failRun } from './end-run.ts';
export {
  completeTask,
  completeWaitingTasks,
  ensureRunExecution,
  ensureStopExecution,
  type Executions,
  openExecutions,
  sendHeartbeat,
  startExecution,
  startExecutionByName,
} from './executions.ts';
export { lifecycleSteps, type RunTimes, stateMachineDefinition } from './state-machine.ts';
export { readSweepState, writeSweepState } from './sweep-runs.ts';
