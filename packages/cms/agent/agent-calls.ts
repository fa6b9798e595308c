import { type KeyObject, sign } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { AgentConnection, Message } from './agent-connection.ts';

/** The names of the roles that callers of an agent have (`agent.proto` of Cocos), by the method that each role calls. */
const roles = { Algo: 'algorithm-provider', Data: 'data-provider', Result: 'consumer' } as const;

/** Returns the headers that prove to the agent who calls: a signature over the name of the role. RSA signs with PKCS#1 v1.5 here. */
function signedAs(method: keyof typeof roles, key: KeyObject): Record<string, string> {
  const role = Buffer.from(roles[method]);
  const signature = sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', role, key);
  return { 'user-id': roles[method], signature: signature.toString('base64') };
}

/**
 * Returns a text in the form that an HTTP/2 header carries: one Latin-1 character for each byte of its UTF-8. The agent passes the bytes on
 * to the algorithm.
 */
const inHeader = (text: string) => Buffer.from(text).toString('latin1');

/** A file to send to an agent, the private key of its party, and a function that is called with the bytes sent so far. */
export interface SentFile {
  file: string;
  key: KeyObject;
  onProgress: (bytes: number) => void;
}

/** Sends the algorithm to an agent, with its type and arguments, which no approval covers. @throws AgentError */
export async function sendAlgorithm(
  agent: AgentConnection,
  { type, args, requirements, ...sent }: SentFile & { type: string; args: string[]; requirements?: string | undefined },
): Promise<void> {
  const given = args.length > 0 ? { algo_args: args.map(inHeader) } : {};
  const metadata = { ...signedAs('Algo', sent.key), algo_type: type, ...given };
  const messages = async function* () {
    yield* chunks(sent, (chunk) => field(1, chunk));
    if (requirements !== undefined) yield* chunks({ file: requirements }, (chunk) => field(2, chunk));
  };
  await ended(agent.call('Algo', metadata, messages()));
}

/** Sends a dataset to an agent, under its name in the manifest. @throws AgentError */
export async function sendDataset(
  agent: AgentConnection,
  { name, decompress, ...sent }: SentFile & { name: string; decompress: boolean },
): Promise<void> {
  const metadata = { ...signedAs('Data', sent.key), decompress: String(decompress) };
  const named = field(2, Buffer.from(name));
  const messages = chunks(sent, (chunk) => [...field(1, chunk), ...named]);
  await ended(agent.call('Data', metadata, messages));
}

/** Fetches the result from an agent: the parts of a ZIP archive, in order. @throws AgentError */
export function fetchResult(agent: AgentConnection, key: KeyObject): AsyncGenerator<Buffer> {
  return contents(agent.call('Result', signedAs('Result', key), [[]]));
}

const platformTypes = { snp: 0, 'snp-vtpm': 2, 'az-snp-vtpm': 3, 'az-tdx-vtpm': 3, tdx: 4 } as const;
const sizeOfVtpmNonce = 32;
const largestToken = 1024 * 1024;
const mostParts = 1024;

/**
 * Asks the agent for a fresh attestation token with a nonce of 64 bytes, of which a vTPM gets the first 32. @throws AgentError; Error for a token of more than 1 MiB
 */
export async function fetchToken(agent: AgentConnection, platform: keyof typeof platformTypes, nonce: Buffer): Promise<Buffer> {
  const type = platformTypes[platform];
  const asked = type === 0 ? [] : [Buffer.from([3 << 3, type])];
  const request = [...field(1, nonce), ...field(2, nonce.subarray(0, sizeOfVtpmNonce)), ...asked];
  const parts: Buffer[] = [];
  for await (const part of contents(agent.call('Attestation', {}, [request]))) {
    parts.push(part);
    const size = parts.reduce((sum, { length }) => sum + length, 0);
    if (size > largestToken || parts.length > mostParts) throw new Error('The token has more than 1 MiB.');
  }
  return Buffer.concat(parts);
}

const chunkSize = 1024 * 1024;

async function* chunks(
  { file, onProgress }: { file: string; onProgress?: SentFile['onProgress'] },
  encode: (chunk: Buffer) => Message,
) {
  const buffer = Buffer.allocUnsafe(chunkSize);
  const opened = await open(file);
  try {
    let sent = 0;
    for (let isFirst = true; ; isFirst = false) {
      const { bytesRead } = await opened.read(buffer);
      if (bytesRead === 0 && !isFirst) return;
      yield encode(buffer.subarray(0, bytesRead));
      onProgress?.((sent += bytesRead));
    }
  } finally {
    await opened.close();
  }
}

async function ended(messages: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of messages); // the answer is empty
}

/** Encodes a field of type `bytes` of a protobuf message: its number, its length and the bytes. */
function field(number: number, bytes: Buffer): Message {
  const head = [(number << 3) | 2];
  let left = bytes.length;
  for (; left >= 0x80; left = Math.floor(left / 0x80)) head.push((left % 0x80) | 0x80);
  return [Buffer.from([...head, left]), bytes];
}

/**
 * Decodes protobuf messages whose only field is the first one, of type `bytes`, and returns the bytes.
 * @throws Error for another message
 */
async function* contents(messages: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const message of messages) {
    if (message.length === 0) continue;
    let [length, at, factor] = [0, 1, 1];
    for (let byte = 0x80; byte >= 0x80; factor *= 0x80) {
      byte = message[at++] ?? 0;
      length += (byte & 0x7f) * factor;
    }
    if (message[0] !== 0x0a || at + length !== message.length) throw new Error('The agent sent a message that cannot be read.');
    yield message.subarray(at);
  }
}
