import { createHash } from 'node:crypto';
import { GetPublicKeyCommand, SignCommand, type KMSClient } from '@aws-sdk/client-kms';
import { joinedSignature } from 'computation-management-formats/der';
import { selfSignedAuthority, type SigningAuthority } from './authority.ts';

/**
 * The certificate is signed again each time: certificates verify with any of them, because their key and name are the same.
 * @param keyId an ARN or an alias of a key on P-256
 */
export async function kmsAuthority(client: KMSClient, keyId: string, stage: string): Promise<SigningAuthority> {
  const { PublicKey = new Uint8Array() } = await client.send(new GetPublicKeyCommand({ KeyId: keyId }));
  const sign = async (content: Uint8Array) => {
    const { Signature = new Uint8Array() } = await client.send(
      new SignCommand({
        KeyId: keyId,
        Message: createHash('sha256').update(content).digest(),
        MessageType: 'DIGEST',
        SigningAlgorithm: 'ECDSA_SHA_256',
      }),
    );
    return joinedSignature(Signature);
  };
  return await selfSignedAuthority(stage, PublicKey, sign);
}
