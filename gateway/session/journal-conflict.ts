import { timestampOf } from '../../shared/clock.ts';
import { refusalEvent } from '../../shared/runs/refusal-event.ts';
import type { CvmSession } from './cvm-session.ts';

/** Tells the journal of the active run that someone else tried to be this CVM. Once a minute. */
export async function journalConflict(
  { identity, parts, agentProcess }: CvmSession,
  refusal: { reason: string; peer: string },
): Promise<void> {
  const { isBusy, run } = agentProcess;
  if (!isBusy || !run?.isAccepted) {
    await parts.service.journalRefusal(identity, { ...refusal, isConflict: true });
    return;
  }
  run.report(refusalEvent({ ...refusal, isConflict: true, now: timestampOf(parts.wallClock) }));
}
