import { pause } from 'computation-management-client';
import { type AgentEvent, behaviourOf, stoppedEvents, testToken } from 'computation-management-simulated-cvm';
import type { ServerMessage } from '../../gateway/wire/messages.ts';
import { runRequestEncoding } from '../../gateway/wire/protocol.ts';
import { type CvmCredentials, openCvmStream, type OutgoingMessage } from './cvm-stream.ts';

export interface AttestedCvm extends Required<CvmCredentials> {
  /** Returns whether the CVM is registered with its certificate, so that the gateway lets it connect. */
  isRegistered: () => Promise<boolean>;
  /** Returns whether a run holds the CVM. */
  isHeld: () => Promise<boolean>;
  /** A signal that ends the CVM. */
  closing: AbortSignal;
}

/** The pause between two events of the agent in a simulated CVM that attests, in milliseconds. */
const eventsInMilliseconds = 300;

/** The pause, in milliseconds, between two looks of a simulated CVM that attests: whether its run is over, or it is registered. */
const looksInMilliseconds = 1_000;

/**
 * Simulates a CVM with a certificate until `closing` is aborted: while the CVM is registered, its agent and its log-forwarder are
 * connected to the gateway. Agent processes follow each other, because each takes one run in its life: the next begins when the
 * run is over or a connection breaks, as if the CVM was restarted.
 */
export async function simulateAttestedCvm(cvm: AttestedCvm): Promise<void> {
  const { closing, isRegistered } = cvm;
  while (!closing.aborted) {
    try {
      if (await isRegistered()) await liveOnce(cvm);
    } catch {
      // A connection broke, or the table does not answer: the next process tries again.
    }
    await pause(looksInMilliseconds, closing).catch(() => undefined);
  }
}

/**
 * Simulates one agent process and the log-forwarder of a CVM: the agent attests with test keys, answers the gateway, and takes a
 * run and its stop. Returns when the run is over.
 * @throws AbortError if a connection breaks or the CVM is closed
 */
async function liveOnce(cvm: AttestedCvm): Promise<void> {
  const broken = new AbortController();
  const over = AbortSignal.any([cvm.closing, broken.signal]);
  const stopped = new AbortController();
  const connections = [openCvmStream(cvm), openCvmStream(cvm, 'log-forwarder')] as const;
  const [{ stream: agent }, { stream: forwarder }] = connections;
  let state = 'ReceivingManifest';
  let work: Promise<unknown> | undefined;

  const send = (message: OutgoingMessage) => agent.write(message);
  const report = ({ event_type, status, originator }: AgentEvent, computation_id = '') => {
    const now = Date.now();
    const timestamp = { seconds: String(Math.floor(now / 1_000)), nanos: (now % 1_000) * 1e6 };
    forwarder.write({ agent_event: { event_type, status, originator, computation_id, timestamp, details: Buffer.alloc(0) } });
  };
  const workThrough = async (computationId: string, datasets: number) => {
    const { before, after } = behaviourOf(cvm.cvmId);
    for (const event of [...before(datasets), ...after]) {
      state = event.event_type;
      report(event, computationId);
      await pause(eventsInMilliseconds, AbortSignal.any([over, stopped.signal]));
    }
  };
  const takeRun = (data: Uint8Array) => {
    if (work) return; // without an answer, as the real agent
    const { id, datasets } = runRequestEncoding().decode(Buffer.from(data)) as unknown as { id: string; datasets: unknown[] };
    work = workThrough(id, datasets.length).catch(() => undefined);
    send({ run_res: { computation_id: id, error: '' } });
  };
  const obeyStop = (computation_id: string) => {
    stopped.abort();
    report(stoppedEvents.stopped, computation_id);
    if (state === 'Running') report(stoppedEvents.failedAfterwards);
    state = 'ReceivingManifest';
    send({ stopComputationRes: { computation_id, message: '' } });
  };
  const obey = (message: ServerMessage) => {
    if ('agentStateReq' in message) send({ agentStateRes: { id: message.agentStateReq.id, state } });
    else if ('runReqChunks' in message) takeRun(message.runReqChunks.data);
    else if ('stopComputation' in message) obeyStop(message.stopComputation.computation_id);
    else agent.end();
  };

  try {
    agent.on('data', obey);
    forwarder.resume();
    for (const { stream } of connections) stream.on('error', () => undefined).on('status', () => broken.abort());
    send({ vTPMattestationReport: { file: testToken(cvm.certificate), certSerialNumber: '1' } });
    do {
      await pause(looksInMilliseconds, over);
      await work;
    } while (!work || (await cvm.isHeld()));
  } finally {
    for (const { stream, client } of connections) {
      stream.cancel();
      client.close();
    }
  }
}
