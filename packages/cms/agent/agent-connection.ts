import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';

/** The gRPC code for an agent that cannot be reached. */
export const unavailable = 14;

/** The answer of an agent in place of success: its message, and its gRPC code. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The address of an agent, and the certificate by which `cms` recognizes the agent. */
export interface AgentAddress {
  /** The host and the port of the agent, such as `cvm.example.com:7002`. */
  address: string;
  /** The certificate and the private key with which `cms` connects to the agent over TLS 1.3. Undefined: the connection has no TLS. */
  tls?: { certificate?: Buffer; key?: Buffer };
  /** The SHA-256 of the agent's certificate in DER, lower-case hex. Undefined: any certificate is accepted. */
  fingerprint?: string | undefined;
  signal: AbortSignal;
}

const timeoutInMilliseconds = 10_000;
/** The longest time in which an agent neither sends nor takes a byte. The connection to it is closed then. */
const silenceInMilliseconds = 120_000;

/** The error of an agent that shows another TLS certificate than the expected one. Nothing was sent to the agent. */
export class AnotherAgentError extends Error {
  override readonly name = 'AnotherAgentError';
}

/** A connection to an agent. The certificate of the agent was compared with the expected one before anything was sent. */
export class AgentConnection {
  readonly #session: ClientHttp2Session;

  private constructor(session: ClientHttp2Session, signal: AbortSignal) {
    this.#session = session;
    session.on('error', () => undefined); // each call reports it
    const end = () => session.destroy();
    session.setTimeout(silenceInMilliseconds, end);
    signal.addEventListener('abort', end, { once: true });
    session.once('close', () => signal.removeEventListener('abort', end));
  }

  /**
   * Opens a connection to an agent within ten seconds, and compares the agent's certificate with the expected one.
   * @throws AnotherAgentError; Error of the network
   */
  static async open({ address, tls, fingerprint, signal }: AgentAddress): Promise<AgentConnection> {
    const { hostname, port } = new URL(`http://${address}`);
    const host = hostname.replace(/^\[|\]$/g, '');
    const target = { host, port: Number(port || 80) };
    const socket = tls ? openTls(target, tls) : connectTcp(target);
    const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutInMilliseconds)]);
    try {
      await once(socket, tls ? 'secureConnect' : 'connect', { signal: within });
      if (fingerprint !== undefined) comparePeer(socket, fingerprint);
    } catch (error) {
      socket.destroy();
      throw within.aborted ? within.reason : error;
    }
    const session = connectHttp2(`${tls ? 'https' : 'http'}://${address}`, { createConnection: () => socket });
    return new AgentConnection(session, signal);
  }

  /** Calls a method of the agent: sends messages one after the other, as the agent takes them, and returns the messages of the answer. */
  async *call(method: string, metadata: Record<string, string | string[]>, messages: Messages) {
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': `/agent.AgentService/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
    const outcome = outcomeOf(stream);
    outcome.catch(() => undefined); // thrown below
    const sent = writeTo(stream, messages).catch(() => undefined); // the outcome says more
    try {
      yield* unframed(stream);
      await outcome;
    } catch (error) {
      if (error instanceof AgentError) throw error;
      await outcome; // says more than that the stream ended
      throw error;
    } finally {
      stream.close(constants.NGHTTP2_NO_ERROR);
      await sent;
    }
  }

  close(): void {
    this.#session.destroy();
  }
}

function openTls(target: { host: string; port: number }, { certificate, key }: { certificate?: Buffer; key?: Buffer }) {
  return connectTls({
    ...target,
    ALPNProtocols: ['h2'],
    minVersion: 'TLSv1.3',
    rejectUnauthorized: false, // the certificate itself is compared, or the user has said that nobody compares it
    ...(certificate && key ? { cert: certificate, key } : {}),
  });
}

function comparePeer(socket: Socket | TLSSocket, expected: string): void {
  const peer = 'getPeerX509Certificate' in socket ? socket.getPeerX509Certificate() : undefined;
  const found = peer?.fingerprint256.replaceAll(':', '').toLowerCase();
  if (found === expected) return;
  const shown = found === undefined ? 'no certificate' : `a certificate with the SHA-256 ${found}`;
  throw new AnotherAgentError(`The agent has ${shown}.`);
}

/** Resolves when a gRPC call to the agent has succeeded. Rejects with AgentError, or an error of the connection. */
function outcomeOf(stream: ClientHttp2Stream): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    let ended = false;
    const judge = (headers: IncomingHttpHeaders) => {
      if (headers['grpc-status'] === undefined) return;
      ended = true;
      const code = /^\d+$/.test(String(headers['grpc-status'])) ? Number(headers['grpc-status']) : 2;
      if (code > 0) reject(new AgentError(code, textOf(headers['grpc-message']) || `code ${code}`));
      else if (stream.writableEnded) resolve();
      else reject(new AgentError(13, 'the agent ended the call before it had everything'));
    };
    stream.on('response', (headers) => {
      judge(headers);
      const http = headers[':status'];
      const code = Number(http) < 500 ? 13 : unavailable;
      if (!ended && http !== 200) reject(new AgentError(code, `it answers with the HTTP status ${String(http)}`));
    });
    stream.on('trailers', judge);
    stream.on('error', reject);
    stream.on('close', () => reject(new Error('The agent closed the connection.')));
  });
}

/** Decodes the percent-encoded error message of a gRPC answer. Returns a message that is not valid percent-encoding as it is. */
function textOf(message: string | string[] | undefined): string {
  const text = String(message ?? '');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A gRPC message to an agent, in parts that are sent one after the other. The memory of the parts may be reused for the next message. */
export type Message = readonly Buffer[];

type Messages = AsyncIterable<Message> | Iterable<Message>;

async function writeTo(stream: ClientHttp2Stream, messages: Messages): Promise<void> {
  const write = promisify((part: Buffer, done: (error?: Error | null) => void) => stream.write(part, done));
  for await (const message of messages) {
    const head = Buffer.alloc(5);
    const size = message.reduce((length, part) => length + part.length, 0);
    head.writeUInt32BE(size, 1);
    for (const part of [head, ...message]) await write(part);
  }
  stream.end();
}

const largestMessage = 16 * 1024 * 1024;

async function* unframed(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= 5) {
      const length = rest.readUInt32BE(1);
      if (rest[0] !== 0 || length > largestMessage) throw new AgentError(13, 'the agent sent a message that cannot be read');
      if (rest.length < 5 + length) break;
      yield rest.subarray(5, 5 + length);
      rest = rest.subarray(5 + length);
    }
  }
}
