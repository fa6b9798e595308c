import type { Client } from '@grpc/grpc-js';
import type { ServerMessage } from '../../gateway/wire/messages.ts';
import { runRequestEncoding } from '../../gateway/wire/protocol.ts';
import {
  type CvmCredentials,
  type CvmStream as Stream,
  openCvmStream,
  type OutgoingMessage as Outgoing,
} from '../../local/cvms/attested-cvms.ts';

export interface AgentOptions extends CvmCredentials {
  /** Default: `address`. */
  forwarderAddress?: string;
  /** Default 5 seconds, as the real agent. */
  reconnectInMilliseconds?: number;
  /** Default true: the CVM has a log-forwarder. */
  hasForwarder?: boolean;
  /** Makes the agent say after this time that it cannot start the server for its users. */
  cannotStart?: { error: string; afterMilliseconds: number };
  /** The number of requests that the agent drops without a word. Default 0. */
  dropsRequests?: number;
  /** Default true. A real agent may need some seconds. */
  attestsAtOnce?: boolean;
  /** Returns the attestation token of a process of the agent. Default: bytes that are no token. */
  token?: () => Uint8Array;
  /** Called in each new state. It may take the next step, as users who upload and fetch do. */
  onState?: (agent: SimulatedAgent, state: string) => void;
}

/** The agent's events in a run that completes without datasets, oldest first. */
export const eventsWithoutDatasets = [
  'ReceivingAlgorithm/InProgress',
  'Running/Starting',
  'Running/InProgress',
  'Running/Completed',
  'ConsumingResults/Ready',
  'Complete/Completed',
];

/** The fields of its manifest that the agent reads. */
export interface RunRequest {
  id: string;
  datasets: { filename: string; hash: Uint8Array }[];
  algorithm: { hash: Uint8Array; userKey: Uint8Array };
}

let clock = 0;

/**
 * A CVM as the gateway sees it: an agent process and a log-forwarder, each with a stream of its own over its own connection. It
 * has the real agent's flaws: it takes one run in its life, does not answer to a second one, forgets a stopped run, loses events
 * when the forwarder's stream breaks, and leaves streams open.
 */
export class SimulatedAgent {
  /** The gateway that the load balancer chooses for the agent's next stream. */
  address: string;
  state = 'ReceivingManifest';
  /** The run requests that arrived, in order. */
  readonly requests: RunRequest[] = [];
  /** The run requests among them that came over a stream without a genuine attestation before. */
  readonly unattested: RunRequest[] = [];
  /** The events that were sent, whether or not they arrive, such as `Running/InProgress`. */
  readonly sentEvents = new Set<string>();
  /** The stops that arrived. */
  stops = 0;
  /** The questions for the state that arrived. */
  questions = 0;
  /** The errors with which streams ended. */
  readonly errors: { code?: number; details?: string }[] = [];
  private readonly options: AgentOptions;
  private agentStream: Stream | undefined;
  private forwarderStream: Stream | undefined;
  private readonly clients = new Set<Client>();
  private attestedStream: Stream | undefined;
  private chunks: Uint8Array[] = [];
  private computationId = '';
  private isStopped = false;
  private answersState = true;
  private reconnecting: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(options: AgentOptions) {
    this.options = options;
    this.address = options.address;
    this.connectForwarder();
    this.connectAgent();
    if (options.attestsAtOnce !== false) this.sendAttestation();
  }

  private open(connectionType?: string): { stream: Stream; client: Client } {
    const address = connectionType === undefined ? this.address : (this.options.forwarderAddress ?? this.address);
    const { stream, client } = openCvmStream({ ...this.options, address }, connectionType);
    this.clients.add(client);
    stream.on('error', (error) => this.errors.push(error as { code?: number }));
    return { stream, client };
  }

  private connectForwarder(): void {
    if (this.options.hasForwarder === false) return;
    const { stream } = this.open('log-forwarder');
    this.forwarderStream = stream;
    stream.on('data', () => undefined);
    stream.on('status', () => {
      if (this.forwarderStream === stream) this.forwarderStream = undefined; // it never reconnects
    });
  }

  private connectAgent(): void {
    const { stream, client } = this.open();
    this.agentStream = stream;
    stream.on('data', (message: ServerMessage) => {
      if (this.agentStream === stream) this.obey(message);
    });
    stream.on('status', () => {
      client.close();
      this.clients.delete(client);
      if (this.agentStream !== stream || this.ended) return;
      this.agentStream = undefined;
      this.reconnecting = setTimeout(() => this.connectAgent(), this.options.reconnectInMilliseconds ?? 5_000);
    });
  }

  /** Sends an attestation, which a process does once. @param foreign a token that proves nothing about this CVM */
  sendAttestation(foreign?: Uint8Array): void {
    const own = this.options.token?.() ?? `token of ${this.options.cvmId} at ${++clock}`;
    const file = Buffer.from(foreign ?? own);
    if (!foreign) this.attestedStream = this.agentStream;
    this.send({ vTPMattestationReport: { file, certSerialNumber: '1' } });
  }

  private send(message: Outgoing): void {
    this.agentStream?.write(message);
  }

  /** Sends any message on the stream of the log-forwarder. It is lost if the stream is. */
  forward(message: Outgoing): void {
    this.forwarderStream?.write(message);
  }

  private now() {
    return { seconds: String(Math.floor(Date.now() / 1000)), nanos: (Date.now() % 1000) * 1e6 + (++clock % 1e6) };
  }

  event(event_type: string, status: string, computation_id = this.computationId, originator = 'agent'): void {
    const timestamp = this.now();
    if (this.forwarderStream) this.sentEvents.add(`${event_type}/${status}`);
    this.forward({ agent_event: { event_type, status, computation_id, originator, timestamp, details: Buffer.alloc(0) } });
  }

  log(level: string, message: string): void {
    this.forward({ agent_log: { level, message, computation_id: this.computationId, timestamp: this.now() } });
  }

  private enter(state: string, status?: string): void {
    this.state = state;
    if (status !== undefined) this.event(state, status);
    this.options.onState?.(this, state);
  }

  private obey(message: ServerMessage): void {
    if ('agentStateReq' in message) {
      this.questions++;
      this.log('DEBUG', `Method State took 1µs to complete with state ${this.state}`);
      if (this.answersState) this.send({ agentStateRes: { id: message.agentStateReq.id, state: this.state } });
    } else if ('runReqChunks' in message) {
      this.chunks.push(message.runReqChunks.data);
      if (message.runReqChunks.is_last) this.takeRun();
    } else if ('stopComputation' in message) {
      this.takeStop(message.stopComputation.computation_id);
    } else if ('disconnectReq' in message) {
      this.agentStream?.end();
    }
  }

  private takeRun(): void {
    const request = runRequestEncoding().decode(Buffer.concat(this.chunks.splice(0))) as unknown as RunRequest;
    this.requests.push(request);
    if (this.attestedStream !== this.agentStream) this.unattested.push(request);
    const isDropped = this.requests.length <= (this.options.dropsRequests ?? 0);
    if (this.state !== 'ReceivingManifest' || isDropped) return; // without an answer
    this.computationId = request.id;
    this.enter('ReceivingAlgorithm', 'InProgress');
    const { error, afterMilliseconds } = this.options.cannotStart ?? { error: '', afterMilliseconds: 0 };
    setTimeout(() => this.send({ run_res: { computation_id: request.id, error } }), afterMilliseconds);
  }

  private takeStop(computation_id: string): void {
    this.stops++;
    const wasRunning = this.state === 'Running';
    this.event('Stopped', 'Stopped');
    this.isStopped = true;
    this.state = 'ReceivingManifest';
    setTimeout(() => {
      if (wasRunning) this.event('Running', 'Failed', '');
      this.send({ stopComputationRes: { computation_id, message: '' } });
    }, 200);
  }

  /** Users upload everything. A stopped agent answers to no user. */
  upload(): void {
    if (this.state !== 'ReceivingAlgorithm' || this.isStopped) return;
    if ((this.requests.at(-1)?.datasets.length ?? 0) > 0) this.enter('ReceivingData', 'InProgress');
    this.event('Running', 'Starting');
    this.enter('Running', 'InProgress');
  }

  /** The algorithm ends well. */
  finish(): void {
    if (this.state !== 'Running') return;
    this.event('Running', 'Completed');
    this.enter('ConsumingResults', 'Ready');
  }

  /** A user fetches the result. */
  fetch(): void {
    if (this.state === 'ConsumingResults') this.enter('Complete', 'Completed');
  }

  /** The algorithm fails. */
  fail(cause = 'algorithm execution error: exit status 3'): void {
    if (this.state !== 'Running') return;
    this.log('WARN', `failed to run computation: ${cause}`);
    this.event('Running', 'Failed');
    this.enter('Failed', 'Failed');
  }

  /** The agent cannot use a file that it fetches. */
  failFetching(cause: string): void {
    this.log('ERROR', cause);
    this.enter('Failed', 'Failed');
  }

  /** The forwarder has died: its stream ends. */
  killForwarder(): void {
    this.forwarderStream?.cancel();
    this.forwarderStream = undefined;
  }

  /** The forwarder hangs: what it is given is lost. */
  loseForwarder(): void {
    this.forwarderStream?.destroy();
    this.forwarderStream = undefined;
  }

  /** The agent hangs: it answers to nothing. */
  hang(): void {
    this.answersState = false;
  }

  /** Lets the agent answer questions for its state again. */
  goOn(): void {
    this.answersState = true;
  }

  /** Leaves the agent's stream without closing it, and opens another one. */
  abandonStream(): void {
    this.connectAgent();
  }

  /** The agent's connection breaks. It comes back in a moment, to the gateway that the load balancer chooses then. */
  loseConnection(): void {
    this.agentStream?.cancel();
  }

  /** All programs are restarted. */
  restart(): void {
    this.disconnect();
    this.connectForwarder();
    this.beginAgent();
  }

  /** Agent and computation-runner are restarted, and the log-forwarder is not. */
  restartAgent(): void {
    clearTimeout(this.reconnecting);
    const stream = this.agentStream;
    this.agentStream = undefined;
    stream?.cancel();
    this.beginAgent();
  }

  /** A new process, which sends an attestation and has no run. */
  private beginAgent(): void {
    this.state = 'ReceivingManifest';
    this.isStopped = false;
    this.answersState = true;
    this.computationId = '';
    this.connectAgent();
    this.sendAttestation();
  }

  private disconnect(): void {
    clearTimeout(this.reconnecting);
    const streams = [this.agentStream, this.forwarderStream];
    this.agentStream = undefined;
    this.forwarderStream = undefined;
    for (const stream of streams) stream?.cancel();
    for (const client of this.clients) client.close();
    this.clients.clear();
  }

  /** Ends both processes. */
  end(): void {
    this.ended = true;
    this.disconnect();
  }
}
