import type { CvmIdentity } from '../identity/cvm-identity.ts';
import { isWithoutRun } from '../streams/agent-states.ts';
import type { AgentStream } from '../streams/agent-stream.ts';
import type { CvmSession } from './cvm-session.ts';

/** An attestation token, and the stream that it came on. */
export interface Attestation {
  token: Uint8Array;
  /** The SHA-256 of the token, hex. */
  hash: string;
  on: AgentStream;
}

/**
 * Keeps an attestation. It means that the agent process is new, so that it can take a run, unless it came late from one that has a run.
 * @param isTooOften counts an attestation, and returns whether it has to wait
 * @returns false if it has to wait, or if nothing shows yet which process it came from
 */
export async function takeAttestation(
  session: CvmSession,
  { token, hash, on }: Attestation,
  isTooOften: (cvm: CvmIdentity) => boolean,
): Promise<boolean> {
  const { agentProcess, identity } = session;
  const { service } = session.parts;
  if (!agentProcess.isLearned) await agentProcess.learn();
  const hasRun = await hasRunOfRecord(session, on);
  if (hasRun === undefined || isTooOften(identity)) return false;
  if (!hasRun && agentProcess.isBusy && agentProcess.run?.isAccepted)
    agentProcess.loseRun(agentProcess.run.reference, agentProcess.run.status);
  const attested = { before: agentProcess.record ?? {}, isNew: !hasRun, attestation: token, attestation_hash: hash };
  const record = await service.recordAgentProcess(identity, attested);
  if (record) agentProcess.setRecord(record);
  else await agentProcess.readRecord();
  const { run } = agentProcess;
  if (record && hasRun && run) {
    const { run_id, computation_id } = run.reference;
    const { attestation_hash } = record;
    await service.keepAttestationOfRun(identity, { run_id, computation_id, attestation_hash });
    if (token.length > 0) run.attest(hash);
  }
  return true;
}

/**
 * Whether a process has the run of the record, or had it. A process may attest itself after it got a run, and on another stream than
 * the run came on. Then its state shows whether it has the run, except after a stop: a process that was stopped looks new.
 * @returns undefined if a run is active and no agent answers now
 */
async function hasRunOfRecord({ agentProcess, agent }: CvmSession, on: AgentStream): Promise<boolean | undefined> {
  if (agentProcess.boundOn && on.openedAt <= agentProcess.boundOn.openedAt) return true; // no process is newer than its stream
  if (!agentProcess.run) return false;
  const state = await (on.isOpen ? on : agent)?.state();
  if (state === undefined) return agentProcess.isBusy ? undefined : false;
  return !isWithoutRun(state);
}
