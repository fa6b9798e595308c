import type { Claim } from './claim.ts';
import { completeTask, type Executions } from './executions.ts';

/**
 * Completes all tasks that wait for the outcome of a run. Safe to repeat.
 * @returns whether the run's execution was waiting, so that it will record the outcome
 */
export async function completeWaitingTasks(executions: Executions, claim: Claim): Promise<boolean> {
  const tokensOfRun = [claim.offer_token, claim.run_token].filter((token) => token !== undefined);
  const [waited] = await Promise.all([
    Promise.all(tokensOfRun.map((token) => completeTask(executions, token))),
    claim.stop_token === undefined ? undefined : completeTask(executions, claim.stop_token),
  ]);
  return waited.some(Boolean);
}
