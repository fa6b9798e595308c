import { setTimeout as delay } from 'node:timers/promises';
import { status, type ServerDuplexStream } from '@grpc/grpc-js';
import { log } from '../shared/runtime/log.ts';
import type { Connections } from './connections.ts';
import type { CvmSession } from './session/cvm-session.ts';
import { type GatewayParts, retryPause } from './session/gateway-parts.ts';
import type { GatewayService } from './session/service.ts';
import type { Sessions } from './session/sessions.ts';
import { AgentStream } from './wire/agent-stream.ts';
import { credentialsOf, type CvmIdentity, identityIn, logFieldsOf, type StreamCredentials } from './wire/identity.ts';
import { type IsTooOften, limitOpenings, tooMany, limitRate } from './wire/limits.ts';
import type { ClientMessage, ServerMessage } from './wire/messages.ts';

type Stream = ServerDuplexStream<ClientMessage, ServerMessage>;

/**
 * The largest number of open streams of a CVM at a gateway: its agent's, its log-forwarder's, and those that both have abandoned.
 */
const mostStreamsPerCvm = 6;

/**
 * Returns the handler of new gRPC streams, which finds out which CVM opened the stream, and passes its messages to the CVM's
 * session.
 */
export function streamHandler(sessions: Sessions, parts: GatewayParts, connections: Connections) {
  const isOneTooMany = limitOpenings(parts.clock);
  return (stream: Stream): void => {
    stream.on('error', () => undefined); // followed by `close`
    connections.carry(stream.getPeer(), stream);
    void admit(stream, sessions, parts, isOneTooMany).catch((error: unknown) => {
      log('ERROR', 'A stream failed.', {}, error);
      stream.destroy();
    });
  };
}

async function admit(stream: Stream, sessions: Sessions, parts: GatewayParts, isOneTooMany: IsTooOften): Promise<void> {
  const certificate = stream.getAuthContext().sslPeerCertificate;
  const shown = identityIn(certificate?.subjectaltname);
  if (shown && isOneTooMany(shown, certificate?.fingerprint256)) {
    parts.counts.streamsRefused++;
    stream.emit('error', { code: status.RESOURCE_EXHAUSTED, details: tooMany });
    return;
  }
  const credentials = credentialsOf(certificate, stream.metadata);
  if (typeof credentials === 'string') return refuse(stream, parts, credentials, shown);
  const askRegistration = () => whyRefused(parts.service, credentials);
  const unread = 'The registration of a CVM cannot be read now.';
  const reason = await untilKnown(askRegistration, unread, stream, parts, credentials.identity);
  if (reason !== undefined) return refuse(stream, parts, reason, credentials.identity);
  if (stream.cancelled || stream.destroyed) return;

  const session = sessions.of(credentials.identity);
  if (session.streams.open.size >= mostStreamsPerCvm) {
    return refuse(stream, parts, 'The CVM has too many open streams.', credentials.identity);
  }
  const { identity, fingerprint, kind } = credentials;
  const open = { fingerprint, end: (why: string) => refuse(stream, parts, why, identity) };
  session.streams.open.add(open);
  const { timings, clock } = parts;
  const given = { fingerprint, answerInMilliseconds: timings.answer, now: clock.now() };
  const agent = kind === 'agent' ? new AgentStream(stream, given) : undefined;
  if (!agent) session.streams.forwarders++;
  whenOver(stream, () => {
    agent?.lost();
    if (agent) session.disconnect(agent);
    else session.streams.forwarders--;
    session.streams.open.delete(open);
  });
  if (!agent) return listen(stream, session);
  const admitAgent = () => session.streams.admit(agent);
  const isAdmitted = await untilKnown(admitAgent, 'An agent cannot be admitted now.', stream, parts, identity);
  if (isAdmitted === undefined || !agent.isOpen) return;
  if (isAdmitted) return listen(stream, session, agent);
  refuse(stream, parts, 'Another agent is connected as this CVM, and it answers.', identity, true);
}

/**
 * Repeats a request to the service until it succeeds or the stream that it is for ends. Nothing is read from the stream
 * meanwhile.
 * @param failure logged each time that the request fails
 * @returns undefined if the stream has ended
 */
async function untilKnown<T>(
  ask: () => Promise<T>,
  failure: string,
  stream: Stream,
  { timings }: GatewayParts,
  identity: CvmIdentity,
): Promise<T | undefined> {
  for (let failures = 1; !stream.cancelled; failures++) {
    try {
      return await ask();
    } catch (error) {
      log('WARN', failure, logFieldsOf(identity), error);
      await delay(retryPause(failures, timings));
    }
  }
  return undefined;
}

function refuse(stream: Stream, parts: GatewayParts, reason: string, cvm?: CvmIdentity, isConflict = false): void {
  if (isConflict) parts.counts.identityConflicts++;
  else parts.counts.streamsRefused++;
  const peer = stream.getPeer();
  log('WARN', 'A stream was refused.', { reason, peer, ...(cvm && logFieldsOf(cvm)) });
  stream.emit('error', { code: status.PERMISSION_DENIED, details: reason });
  if (!cvm) return;
  parts.service.recordRefusal(cvm, { reason, peer, isConflict }).catch((error: unknown) => {
    log('WARN', 'A refused stream could not be recorded in the journal.', logFieldsOf(cvm), error);
  });
}

/**
 * Calls a function once when a stream ends, however that happens: also if the stream is refused and its other side does not read.
 */
function whenOver(stream: Stream, callback: () => void): void {
  let isOver = false;
  for (const event of ['close', 'cancelled', 'end', 'error']) {
    stream.once(event, () => {
      if (!isOver) callback();
      isOver = true;
    });
  }
}

function listen(stream: Stream, session: CvmSession, agent?: AgentStream): void {
  const count = limitRate(stream);
  stream.on('end', () => stream.end());
  stream.on('data', (message: ClientMessage) => {
    count(message);
    if (!stream.writableEnded) receive(message, session, agent); // else this gateway has ended the stream
  });
}

function receive(message: ClientMessage, session: CvmSession, agent: AgentStream | undefined): void {
  if (message.agent_log) session.takeLog(message.agent_log);
  else if (message.agent_event) session.takeEvent(message.agent_event);
  if (!agent) return;
  const { run_res } = message;
  if (message.agentStateRes) agent.answer(message.agentStateRes);
  else if (run_res && !agent.answerRun(run_res)) session.takeLateAnswer(run_res);
  else if (message.stopComputationRes) session.lookNow();
  else if (message.vTPMattestationReport) session.takeAttestation(message.vTPMattestationReport, 'eat', agent);
  else if (message.azureAttestationToken) session.takeAttestation(message.azureAttestationToken, 'azure', agent);
}

/**
 * Returns the reason why the stream of a CVM is refused. Undefined if the CVM is registered with the certificate that the stream
 * shows.
 */
async function whyRefused(service: GatewayService, { identity, fingerprint }: StreamCredentials): Promise<string | undefined> {
  const registered = (await service.registration(identity))?.certificate;
  if (registered === undefined) return 'The CVM is not registered with a certificate.';
  return registered === fingerprint ? undefined : 'The CVM is registered with another certificate.'; // defence
}
