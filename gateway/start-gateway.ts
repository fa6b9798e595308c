import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { logVerbosity, Server, ServerCredentials, setLogVerbosity } from '@grpc/grpc-js';
import { log } from '../shared/runtime/log.ts';
import { Connections, stopListening } from './connections.ts';
import type { GatewayGauges } from './gateway-metrics.ts';
import { type Deployment, watchReplacement } from './replacement.ts';
import { noCounts, type GatewayCounts, defaultTimings, type GatewayTimings, oneAtATime } from './session/gateway-parts.ts';
import type { Outbox } from './session/outbox.ts';
import type { RunLogs } from './session/run-logs.ts';
import { openService } from './session/service.ts';
import { storedRunLogs } from './session/stored-logs.ts';
import { Sessions } from './session/sessions.ts';
import { streamHandler } from './stream-handler.ts';
import { cvmsService } from './wire/protocol.ts';
import { systemClock, type Clock } from '../shared/runtime/deadline.ts';

export interface GatewayOptions {
  /** The port on which the gateway listens. 0 selects a free port. */
  port: number;
  /** The address on which the gateway listens. Default: all interfaces. */
  host?: string;
  /**
   * The certificate and the private key of the gateway, and the certificate of the CA that signs the certificates of CVMs, all in
   * PEM.
   */
  tls: { ca: string; certificate: string; key: string };
  logs: RunLogs;
  /**
   * The name of the gateway. A gateway that restarts under the same name takes its CVMs back without asking whether its former
   * process is gone.
   */
  name?: string;
  /** The deployment that started the gateway. Default: none, so that no other gateway replaces it. */
  deployment?: Deployment;
  timings?: Partial<GatewayTimings>;
  clock?: Clock;
}

/** A gateway that runs, with the port on which it listens and the figures of its metrics. */
export interface Gateway {
  port: number;
  counts: GatewayCounts;
  gauges: () => GatewayGauges;
  /** Resolves when a gateway that a later deployment has replaced may go. Without a deployment, it never resolves. */
  drained: Promise<undefined>;
  stop: () => Promise<void>;
}

/** The largest message that the gateway receives, in bytes: an attestation token of 1 MiB, which is the largest, and what is around it. */
const largestMessageInBytes = 1024 * 1024 + 64 * 1024;

const lookInMilliseconds = 50;

const channelOptions = {
  'grpc.max_receive_message_length': largestMessageInBytes,
  'grpc.max_send_message_length': 4 * 1024 * 1024,
  'grpc.max_concurrent_streams': 8,
  'grpc.enable_channelz': 0, // statistics of each connection that nothing reads
};

/** Starts a gateway, to which the agents of CVMs connect by gRPC. The gateway keeps no state of its own. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const wallClock = options.clock ?? systemClock;
  const counts = noCounts();
  const timings = { ...defaultTimings, ...options.timings };
  const id = randomUUID();
  const service = openService(wallClock, id);
  const clock = { ...wallClock, now: wallClock.steady ?? wallClock.now };
  const logs = storedRunLogs(options.logs, service, wallClock);
  const parts = { id, service, logs, counts, timings, clock, wallClock };
  const sessions = new Sessions(parts, options.name);
  const server = new Server({
    ...channelOptions,
    'grpc.keepalive_time_ms': timings.ping,
    'grpc.keepalive_timeout_ms': timings.pingAnswer,
    'grpc.max_connection_idle_ms': timings.connectionWithoutStream,
  });
  const connections = new Connections();
  server.addService(cvmsService(), { Process: streamHandler(sessions, parts, connections) });
  const { ca, certificate, key } = options.tls;
  const pair = { cert_chain: Buffer.from(certificate), private_key: Buffer.from(key) };
  const credentials = ServerCredentials.createSsl(Buffer.from(ca), [pair], true);
  // A refused stream silences a log-forwarder for good, so nothing listens before everything is ready.
  const address = `${options.host ?? '0.0.0.0'}:${options.port}`;
  const port = await bind(server, address, credentials).catch(async (error: unknown) => {
    await Promise.allSettled([logs.close()]);
    throw error;
  });
  connections.watch(server, timings.connectionWithoutStream);
  const replacement = options.deployment && watchReplacement(options.deployment, parts, sessions, () => stopListening(server));
  let isStopping = false;
  const readCommands = oneAtATime(async () => {
    const commands = await service.pendingCommands();
    if (!isStopping) sessions.setPending(commands);
  }, 'The commands of CVMs cannot be read now.');
  const ticking = setInterval(() => {
    if (!isStopping) readCommands();
    sessions.tick();
    replacement?.tick();
  }, timings.commands);

  return {
    port,
    counts,
    drained: replacement?.drained ?? new Promise(() => undefined),
    gauges: () => gaugesOf(sessions),
    stop: async () => {
      server.unbind(address.replace(/:0$/, `:${port}`));
      isStopping = true;
      await drain(sessions, timings);
      clearInterval(ticking); // until now it answers the messages of other gateways, as its lease promises
      const left = outboxesOf(sessions).filter((outbox) => !outbox.isEmpty);
      for (const outbox of outboxesOf(sessions)) outbox.close();
      await sessions.end();
      server.forceShutdown();
      await logs.close();
      log('INFO', 'The gateway has stopped.', { left: left.length });
    },
  };
}

const outboxesOf = (sessions: Sessions): Outbox[] =>
  sessions.all.flatMap(({ agentProcess }) => agentProcess.runs.map(({ outbox }) => outbox));

/**
 * Waits until the reports of all runs are sent, for up to the time of a drain. Waits less for reports that may be left out,
 * because new ones may come without end.
 */
async function drain(sessions: Sessions, timings: GatewayTimings): Promise<void> {
  const endsAt = performance.now() + timings.drain;
  await Promise.all(outboxesOf(sessions).map((outbox) => outbox.drained(timings.drainOfOptional)));
  while (sessions.all.some((session) => session.holdsLasting)) {
    const left = endsAt - performance.now();
    if (left <= 0) return;
    await delay(Math.min(left, lookInMilliseconds));
  }
}

/** Lets the gRPC server of the gateway listen at an address. @returns the port @throws Error if the address is taken */
async function bind(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  setLogVerbosity(logVerbosity.NONE); // gRPC prints why it cannot listen, which the caller is told as well
  try {
    return await promisify(server.bindAsync.bind(server))(address, credentials);
  } finally {
    setLogVerbosity(logVerbosity.ERROR);
  }
}

function gaugesOf(sessions: Sessions): GatewayGauges {
  const connected = sessions.all.filter(({ streams }) => streams.agent);
  const identitiesOf = (cvms: typeof connected) => cvms.map(({ identity }) => identity);
  return {
    cvms: connected.length,
    missingForwarders: identitiesOf(connected.filter(({ streams }) => !streams.hasForwarder)),
    spentCvms: identitiesOf(
      connected.filter(({ agentProcess: { fit, state } }) => fit === 'spent' && state !== 'ConsumingResults'),
    ),
    attestedCvms: sessions.all.filter(({ isAttested }) => isAttested).length,
    outboxAge: Math.max(0, ...outboxesOf(sessions).map((outbox) => outbox.age)),
  };
}
