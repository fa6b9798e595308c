import { DecryptCommand, GenerateDataKeyCommand, GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { clientLimits, sharedClient } from './clients.ts';
import type { DeadlineSource } from './deadline.ts';

/** The keys of a stage never leave it. Keys are named by their ARN. */
export interface Kms {
  /** Returns the public key of a signing key: SubjectPublicKeyInfo in DER. */
  publicKey: (keyArn: string) => Promise<Uint8Array>;
  /** By ECDSA on P-256, of a SHA-256 digest. Returns the signature in DER. */
  sign: (keyArn: string, digest: Uint8Array) => Promise<Uint8Array>;
  /** A key of 256 bits, in plain text and encrypted, bound to the context. */
  newDataKey: (keyArn: string, context: Record<string, string>) => Promise<{ plain: Uint8Array; encrypted: Uint8Array }>;
  /** @throws Error `InvalidCiphertextException` if another key encrypted the data key, or with another context */
  openDataKey: (keyArn: string, encrypted: Uint8Array, context: Record<string, string>) => Promise<Uint8Array>;
}

/** On one machine, `replaceClient` puts keys of the machine in its place. */
export function keysInKms(): (deadline: DeadlineSource) => Kms {
  const client = new KMSClient({ requestHandler: clientLimits });
  return (deadline) => {
    const untilDeadline = () => ({ abortSignal: deadline().signal() });
    return {
      publicKey: async (KeyId) => {
        const { PublicKey } = await client.send(new GetPublicKeyCommand({ KeyId }), untilDeadline());
        return given(PublicKey);
      },
      sign: async (KeyId, Message) => {
        const request = { KeyId, Message, MessageType: 'DIGEST', SigningAlgorithm: 'ECDSA_SHA_256' } as const;
        const { Signature } = await client.send(new SignCommand(request), untilDeadline());
        return given(Signature);
      },
      newDataKey: async (KeyId, EncryptionContext) => {
        const request = { KeyId, KeySpec: 'AES_256', EncryptionContext } as const;
        const { Plaintext, CiphertextBlob } = await client.send(new GenerateDataKeyCommand(request), untilDeadline());
        return { plain: given(Plaintext), encrypted: given(CiphertextBlob) };
      },
      openDataKey: async (KeyId, CiphertextBlob, EncryptionContext) => {
        const { Plaintext } = await client.send(
          new DecryptCommand({ KeyId, CiphertextBlob, EncryptionContext }),
          untilDeadline(),
        );
        return given(Plaintext);
      },
    };
  };
}

export function openKms(deadline: DeadlineSource): Kms {
  return sharedClient(keysInKms)(deadline);
}

function given(bytes: Uint8Array | undefined): Uint8Array {
  if (!bytes) throw new Error('KMS returned an incomplete answer.');
  return bytes;
}
