import { Client, type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import { pause } from 'computation-management-client';
import { type AgentEvent, behaviourOf, stoppedEvents, testToken, attests } from 'computation-management-simulated-cvm';
import type { ClientMessage, ServerMessage } from '../../gateway/wire/messages.ts';
import { cvmsService, runRequestEncoding } from '../../gateway/wire/protocol.ts';
import { generateKeyPairSync } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { cvmId, domainId } from 'computation-management-formats/identifiers';
import * as v from 'valibot';
import { registerCvmRoute } from '../../shared/endpoints/cvms.ts';
import { readClaimOfCvm } from '../../shared/rows/claim.ts';
import { readRegistration } from '../../shared/rows/command-stream.ts';
import type { CvmReference } from '../../shared/rows/cvm.ts';
import { Deadline } from '../../shared/runtime/deadline.ts';
import { openTable } from '../../shared/table/table.ts';
import type { InvokeFunction } from '../functions/local-functions.ts';
import { keptFile } from '../machine/data-directory.ts';
import type { CvmGateway } from './cvm-gateway.ts';

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
async function simulateAttestedCvm(cvm: AttestedCvm): Promise<void> {
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

/** A message of the agent in a simulated CVM, with exactly one field. */
export type OutgoingMessage = Omit<ClientMessage, 'message'>;

/** A gRPC stream between a program in a simulated CVM and a gateway. */
export type CvmStream = ClientDuplexStream<OutgoingMessage, ServerMessage>;

/** The address of a gateway, such as `localhost:7001`, and the certificate and key that a CVM shows there, in PEM. */
export interface CvmCredentials {
  address: string;
  /** The certificate of the authority, in PEM, with which a CVM verifies the gateway. */
  ca: string;
  certificate?: string;
  key?: string;
  /** The identifier of the CVM, which its programs send as `job-id`. */
  cvmId: string;
}

/**
 * Opens the stream of a program in a simulated CVM to a gateway, over a connection of its own.
 * @param connectionType the kind of the program, `log-forwarder`. Default: the agent
 * @returns the stream, and the client that closes the connection
 */
export function openCvmStream(
  { address, ca, certificate, key, cvmId }: CvmCredentials,
  connectionType?: string,
): { stream: CvmStream; client: Client } {
  const [root, own, chain] = [ca, key, certificate].map((pem) => (pem === undefined ? null : Buffer.from(pem)));
  // A connection of its own: clients share one by default.
  const client = new Client(address, credentials.createSsl(root, own, chain), {
    'grpc.use_local_subchannel_pool': 1,
    'grpc.enable_retries': 0,
  });
  const metadata = new Metadata();
  metadata.set('job-id', cvmId);
  if (connectionType !== undefined) metadata.set('connection-type', connectionType);
  const method = cvmsService()['Process'];
  if (!method) throw new TypeError('cvms.proto has no Process.');
  const stream = client.makeBidiStreamRequest(
    method.path,
    method.requestSerialize as (message: OutgoingMessage) => Buffer,
    method.responseDeserialize as unknown as (bytes: Buffer) => ServerMessage,
    metadata,
  );
  return { stream, client };
}

const keptCvm = v.object({ domain: domainId, cvmId, certificate: v.string(), key: v.string() });
const withoutCertificate = v.pipe(v.string(), v.parseJson(), v.looseObject({ certificate: v.optional(v.undefined()) }));

/**
 * Simulates CVMs that attest with public test keys, each by an agent that connects to the gateway with a certificate of its own.
 * Keeps their keys and certificates under `dataDirectory`.
 * @returns a function that invokes functions of the service, and that registers such a CVM with its certificate when a request
 * registers it without one
 */
export function withAttestedCvms(
  invoke: InvokeFunction,
  { gateway, dataDirectory }: { gateway: CvmGateway; dataDirectory: string | undefined },
  onStop: (stop: () => Promise<void>) => void,
): InvokeFunction {
  const withoutIt = 'Without it, remove the simulated CVMs that attest, and register them again.';
  const file = keptFile(dataDirectory, 'attested-cvms.json', { schema: v.array(keptCvm), withoutIt });
  const table = openTable(() => new Deadline());
  const ending = new AbortController();
  const registered = async (cvm: CvmReference) => (await readRegistration(table, cvm))?.certificate;
  const live = (cvm: v.InferOutput<typeof keptCvm>) =>
    simulateAttestedCvm({
      ...cvm,
      ...gateway,
      isRegistered: async () => (await registered(cvm)) === fingerprintOfCertificate(cvm.certificate),
      isHeld: async () => (await readClaimOfCvm(table, { domain: cvm.domain, cvm_id: cvm.cvmId })) !== undefined,
      closing: ending.signal,
    });
  let cvms = file.read() ?? [];
  const lives = cvms.map(live);
  onStop(async () => {
    ending.abort();
    await Promise.all(lives);
  });

  const certificateFor = async ({ domain, cvmId }: CvmReference): Promise<string> => {
    const known = cvms.find((cvm) => cvm.domain === domain && cvm.cvmId === cvmId);
    if (known) return known.certificate;
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const publicKey = pair.publicKey.export({ format: 'pem', type: 'spki' }).toString();
    const { certificate } = await gateway.enrol({ domain, cvmId, publicKey });
    const made = { domain, cvmId, certificate, key: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString() };
    cvms = file.write([...cvms, made]);
    lives.push(live(made));
    return certificate;
  };

  return async (name, event) => {
    const { pathParameters, body } = event as APIGatewayProxyEventV2;
    const cvm = { domain: pathParameters?.['domainID'], cvmId: pathParameters?.['cvmID'] };
    const given = v.safeParse(withoutCertificate, body);
    const isSimulated = name === registerCvmRoute.name && v.is(v.pick(keptCvm, ['domain', 'cvmId']), cvm) && attests(cvm.cvmId);
    if (!given.success || !isSimulated || (await registered(cvm)) !== undefined) return await invoke(name, event);
    const certificate = await certificateFor(cvm);
    return await invoke(name, { ...(event as object), body: JSON.stringify({ ...given.output, certificate }) });
  };
}
