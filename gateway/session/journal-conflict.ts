import { timestampOf } from '../../shared/clock.ts';
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
  const minute = timestampOf(parts.wallClock).slice(0, 16);
  const details = Buffer.from(JSON.stringify({ detail: refusal.reason, peer: refusal.peer })).toString('base64');
  run.report({ type: 'event', id: `conflict:${minute}`, event_type: 'IdentityConflict', status: 'Warning', details });
}
