import { Client, type ClientDuplexStream, credentials, Metadata } from '@grpc/grpc-js';
import type { ClientMessage, ServerMessage } from '../../gateway/wire/messages.ts';
import { cvmsService } from '../../gateway/wire/protocol.ts';

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
