import { ConfiguredRetryStrategy } from '@smithy/core/retry';
import { growingPause, type DeadlineSource } from './deadline.ts';
import {
  KMSClient,
  GetPublicKeyCommand,
  SignCommand,
  type SignCommandInput,
  GenerateDataKeyCommand,
  DecryptCommand,
} from '@aws-sdk/client-kms';

const clients = new Map<() => unknown, unknown>();

/** Returns a client of a dependency, such as S3, that all requests of a process share. Calls `create` at the first use. */
export function sharedClient<Client>(create: () => Client): Client {
  if (!clients.has(create)) clients.set(create, create());
  return clients.get(create) as Client;
}

/**
 * Puts a client of a dependency in the place of the one that `create` would make. Only a service on one machine calls this
 * function, because it has engines of its own.
 */
export function replaceClient<Client>(create: () => Client, client: Client): void {
  clients.set(create, client);
}

/**
 * Forgets all clients that requests of a process share. Only a service that starts on one machine calls this function, because
 * its parts have addresses of their own.
 */
export function forgetClients(): void {
  clients.clear();
}

/**
 * The time limits of a call to AWS, in milliseconds. The limits leave time for another attempt before the deadline if a socket
 * hangs.
 */
export const clientLimits = { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true } as const;

/**
 * The most attempts of a call to AWS. With the SDK's default of 3, about one caller in a hundred would get a 503 if every fifth
 * call failed.
 */
export const maxAttempts = 6;

/**
 * Returns the pause before another attempt of a call to AWS, in milliseconds: a random time up to 1 second. The SDK's default of
 * seconds would use up the deadline.
 */
export const pauseBefore = (attempt: number) => Math.random() * growingPause(attempt, { first: 50, longest: 1_000 });

/**
 * Returns the options of the clients of the table and of storage: retries and time limits. The caller's deadline ends the
 * attempts.
 */
export function clientOptions() {
  return { retryStrategy: new ConfiguredRetryStrategy(maxAttempts, pauseBefore), requestHandler: clientLimits };
}

/** The operations with keys in KMS that the service uses. The keys of a stage never leave KMS. They are named by their ARN. */
export interface Kms {
  /** Returns the public key of a signing key in KMS, as DER SubjectPublicKeyInfo. */
  publicKey: (keyArn: string) => Promise<Uint8Array>;
  /** Signs a SHA-256 digest with a key in KMS, by ECDSA on P-256. Returns the signature in DER. */
  sign: (keyArn: string, digest: Uint8Array) => Promise<Uint8Array>;
  /** Signs a message of up to 4,096 bytes with a key in KMS, by Ed25519. Returns the signature, 64 bytes. */
  signEd25519: (keyArn: string, message: Uint8Array) => Promise<Uint8Array>;
  /**
   * Makes a data key of 256 bits in KMS. Returns it in plain text and encrypted by the key with the given ARN. The encrypted
   * data key is bound to the context.
   */
  newDataKey: (keyArn: string, context: Record<string, string>) => Promise<{ plain: Uint8Array; encrypted: Uint8Array }>;
  /**
   * Decrypts a data key that `newDataKey` has made.
   * @throws Error `InvalidCiphertextException` if another key encrypted the data key, or with another context
   */
  openDataKey: (keyArn: string, encrypted: Uint8Array, context: Record<string, string>) => Promise<Uint8Array>;
}

/**
 * Returns a function that opens KMS with a deadline. All calls share one client. On one machine, `replaceClient` puts keys of
 * the machine in its place.
 */
export function keysInKms(): (deadline: DeadlineSource) => Kms {
  const client = new KMSClient({ requestHandler: clientLimits });
  return (deadline) => {
    const untilDeadline = () => ({ abortSignal: deadline().signal() });
    const sign = async (request: SignCommandInput) => {
      const { Signature } = await client.send(new SignCommand(request), untilDeadline());
      return given(Signature);
    };
    return {
      publicKey: async (KeyId) => {
        const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }), untilDeadline());
        return given(PublicKey);
      },
      sign: (KeyId, Message) => sign({ KeyId, Message, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' }),
      signEd25519: (KeyId, Message) => sign({ KeyId, Message, MessageType: 'RAW', SigningAlgorithm: 'ED25519_SHA_512' }),
      newDataKey: async (KeyId, EncryptionContext) => {
        const request = { KeyId, KeySpec: 'AES_256', EncryptionContext } as const;
        const { Plaintext, CiphertextBlob } = await client.send(new GenerateDataKeyCommand(request), untilDeadline());
        return { plain: given(Plaintext), encrypted: given(CiphertextBlob) };
      },
      openDataKey: async (KeyId, CiphertextBlob, EncryptionContext) => {
        const command = new DecryptCommand({ KeyId, CiphertextBlob, EncryptionContext });
        return given((await client.send(command, untilDeadline())).Plaintext);
      },
    };
  };
}

/** Opens the key management of the service with a deadline: KMS, or the keys of the machine on one machine. */
export function openKms(deadline: DeadlineSource): Kms {
  return sharedClient(keysInKms)(deadline);
}

function given(bytes: Uint8Array | undefined): Uint8Array {
  if (!bytes) throw new Error('KMS returned an incomplete answer.');
  return bytes;
}
