import {
  type JsonWebKey,
  constants,
  createDecipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  privateDecrypt,
} from 'node:crypto';

/** Decrypts a JWE as a client of the protocol does: it writes the header again, in the order of its own type, for the associated data. */
export function openJwe(jwe: Record<string, unknown>, privateKey: KeyObject): Buffer {
  const part = (name: string) => Buffer.from(String(jwe[name]), 'base64url');
  const { alg, enc, ...others } = JSON.parse(part('protected').toString()) as Record<string, unknown>;
  const written = Buffer.from(JSON.stringify({ alg, enc, ...sorted(others) })).toString('base64url');
  const key = unwrap(part('encrypted_key'), { alg, epk: others['epk'] }, privateKey);
  const decryption = createDecipheriv('aes-256-gcm', key, part('iv')).setAAD(Buffer.from(written)).setAuthTag(part('tag'));
  return Buffer.concat([decryption.update(part('ciphertext')), decryption.final()]);
}

const sorted = <Value>(value: Value): Value =>
  typeof value === 'object' && value !== null
    ? (Object.fromEntries(
        Object.entries(value)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([name, member]: [string, unknown]) => [name, sorted(member)]),
      ) as Value)
    : value;

function unwrap(encrypted: Buffer, { alg, epk }: { alg: unknown; epk: unknown }, privateKey: KeyObject): Buffer {
  if (alg === 'RSA-OAEP-256')
    return privateDecrypt({ key: privateKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, encrypted);
  const secret = diffieHellman({ privateKey, publicKey: createPublicKey({ key: epk as JsonWebKey, format: 'jwk' }) });
  const name = 'ECDH-ES+A256KW';
  const info = `00000001${secret.toString('hex')}0000000e${Buffer.from(name).toString('hex')}000000000000000000000100`;
  const wrapping = createHash('sha256').update(Buffer.from(info, 'hex')).digest();
  const unwrapping = createDecipheriv('id-aes256-wrap', wrapping, Buffer.alloc(8, 0xa6));
  return Buffer.concat([unwrapping.update(encrypted), unwrapping.final()]);
}
