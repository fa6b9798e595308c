import { createHash, createPublicKey, generateKeyPairSync, type Hash, verify, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import {
  Metadata,
  type sendUnaryData,
  Server,
  type ServerReadableStream,
  ServerCredentials,
  type ServerWritableStream,
  type ServiceDefinition,
  status,
  type StatusObject,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { forgeCertificate, pem, spec } from '../packages/attestation/forge-certificates.ts';

/** The calls that an agent got: how many bytes of files, and of each call its metadata and the SHA3-256 of its file. */
export interface Received {
  bytes: number;
  files: { call: string; metadata: Record<string, string[]>; filename: string; hash: string }[];
  nonces: Buffer[];
}

export interface StandInAgent {
  address: string;
  certificate: string;
  fingerprint: string;
  received: Received;
  stop: () => void;
}

interface Options {
  /** Returns the token of a type for a nonce, or throws: the agent has no such evidence. */
  attest?: (nonce: Buffer, type: number) => Uint8Array;
  /** The public key of all parties, as base64 of its SubjectPublicKeyInfo. */
  userKey: string;
  result?: Buffer;
  /** Refuses files with this text. */
  refusal?: string;
  /** Cuts the first so many calls in the middle. */
  cuts?: number;
  withTls?: boolean;
}

const roles: Record<string, string> = { Algo: 'algorithm-provider', Data: 'data-provider', Result: 'consumer' };

/** An agent that takes files and gives a result, by the interface of the agent of Cocos, with another implementation of gRPC. */
export async function startStandInAgent(options: Options): Promise<StandInAgent> {
  const received: Received = { bytes: 0, files: [], nonces: [] };
  const key = createPublicKey({ key: Buffer.from(options.userKey, 'base64'), format: 'der', type: 'spki' });
  const isSigned = (call: string, metadata: Metadata) => {
    const [signature = ''] = metadata.get('signature');
    const role = Buffer.from(roles[call] ?? '');
    const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256';
    return verify(algorithm, role, key, Buffer.from(String(signature), 'base64'));
  };
  const refused = (code: status, details: string): StatusObject => ({ code, details, metadata: new Metadata() });
  let cuts = options.cuts ?? 0;
  const take =
    (call: string, content: string) =>
    (stream: ServerReadableStream<Record<string, never>, object>, done: sendUnaryData<object>) => {
      const hash: Hash = createHash('sha3-256');
      let filename = '';
      if (!isSigned(call, stream.metadata)) return done(refused(status.UNAUTHENTICATED, 'signature verification failed'));
      stream.on('data', (message: Record<string, Buffer | string>) => {
        const part = message[content] as Buffer;
        hash.update(part);
        received.bytes += part.length;
        filename = String(message['filename'] ?? '') || filename;
        if (cuts > 0) {
          cuts -= 1;
          stream.destroy();
          sessions.drain();
        }
      });
      stream.on('error', () => undefined);
      stream.on('end', () => {
        if (options.refusal !== undefined) return done(refused(status.UNKNOWN, options.refusal));
        const metadata = Object.fromEntries(
          Object.keys(stream.metadata.getMap()).map((name) => [name, stream.metadata.get(name).map(String)]),
        );
        received.files.push({ call, metadata, filename, hash: hash.digest('hex') });
        done(null, {});
      });
    };
  const service = loadSync(join(import.meta.dirname, 'agent.proto'), { keepCase: true })[
    'agent.AgentService'
  ] as ServiceDefinition;
  const server = new Server({ 'grpc.max_receive_message_length': 4 * 1024 * 1024 });
  server.addService(service, {
    Algo: take('Algo', 'algorithm'),
    Data: take('Data', 'dataset'),
    Result: (stream: ServerWritableStream<object, object>) => {
      if (!isSigned('Result', stream.metadata))
        return stream.emit('error', refused(status.UNAUTHENTICATED, 'signature verification failed'));
      const { result = Buffer.alloc(0) } = options;
      for (let at = 0; at < result.length; at += 1024) stream.write({ file: result.subarray(at, at + 1024) });
      stream.end();
    },
    Attestation: (stream: ServerWritableStream<{ teeNonce: Buffer; type?: number }, object>) => {
      received.nonces.push(stream.request.teeNonce);
      try {
        stream.write({ file: Buffer.from(options.attest?.(stream.request.teeNonce, stream.request.type ?? 0) ?? []) });
        stream.end();
      } catch (error) {
        stream.emit('error', { code: status.UNKNOWN, details: String(error) });
      }
    },
  });
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = forgeCertificate({ ...spec, subject: 'agent', issuer: 'agent', key: pair, signer: pair, extensions: [] });
  const certificate = pem(der);
  const private_key = Buffer.from(pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
  const tls = ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(certificate), private_key }]);
  const credentials = options.withTls === false ? ServerCredentials.createInsecure() : tls;
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error ? reject(error) : resolve(bound))),
  );
  const sessions = { drain: () => server.drain(`127.0.0.1:${port}`, 0) };
  return {
    address: `127.0.0.1:${port}`,
    certificate,
    fingerprint: new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase(),
    received,
    stop: () => server.forceShutdown(),
  };
}
