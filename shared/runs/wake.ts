import type { Claim } from './claim.ts';
import { endWait, type Executions } from './executions.ts';

/**
 * Tells every wait of a run that its outcome is known. Safe to repeat.
 * @returns whether the run's own execution was waiting, and will record the outcome
 */
export async function wakeForOutcome(executions: Executions, claim: Claim): Promise<boolean> {
  const ofRun = [claim.offer_token, claim.run_token].filter((token) => token !== undefined);
  const [woken] = await Promise.all([
    Promise.all(ofRun.map((token) => endWait(executions, token))),
    claim.stop_token === undefined ? undefined : endWait(executions, claim.stop_token),
  ]);
  return woken.some(Boolean);
}
