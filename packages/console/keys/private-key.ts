import { methodOf } from 'computation-management-formats/approval-signature';
import {
  type Bytes,
  derElements,
  fromBase64,
  signatureInDer,
  toBase64,
  toLatin1,
  unsigned,
} from 'computation-management-formats/bytes';
import { keyIn } from 'computation-management-formats/public-key';
import { fingerprintOfSpki, sshWireOf } from 'computation-management-formats/ssh-wire';
import { type Jwk, readOpenSshKey, UnusableKey } from './openssh-key.ts';

/** A private key that signs approvals in this page. The private part cannot be read out of it. */
export type SigningKey = Awaited<ReturnType<typeof signerOf>>;

const { subtle } = crypto;
type Method = ReturnType<typeof methodOf>;

const elsewhere = 'Approve with the command below instead.';

/**
 * Reads a private key, which stays in the page: PEM in PKCS#8, or OpenSSH, also with a passphrase.
 * @throws NeedsPassphrase, or UnusableKey with what the user can do
 */
export async function readPrivateKey(text: string, passphrase = ''): Promise<SigningKey> {
  // `openssl ecparam` writes the parameters of the curve first.
  const [, label = '', body] = /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----(?:(.*?)-----END \1-----)?/s.exec(text) ?? [];
  if (label === 'OPENSSH PRIVATE KEY') return await signerOf(await readOpenSshKey(bytesOf(body), passphrase));
  if (label === 'PRIVATE KEY') return await signerOf(bytesOf(body));
  if (label !== '') throw new UnusableKey(`The browser cannot read a file of the form ${label}. ${elsewhere}`);
  if (/PUBLIC KEY-----|^(ssh|ecdsa)-/.test(text)) {
    throw new UnusableKey('This is a public key. Choose the private key that belongs to it.');
  }
  throw new UnusableKey('This is no private key. Choose a file of OpenSSH, or PEM (BEGIN PRIVATE KEY).');
}

/**
 * Makes an Ed25519 key. The private part can be exported only until the returned PEM of it is made.
 * @returns the key, and its private part as PEM in PKCS#8 for a file of the user
 * @throws if the browser cannot make such a key
 */
export async function makeKey(): Promise<{ key: SigningKey; pem: string }> {
  const pair: unknown = await subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const { privateKey } = pair as { privateKey: Parameters<typeof subtle.exportKey>[1] };
  const pkcs8 = new Uint8Array(await subtle.exportKey('pkcs8', privateKey));
  const pem = `-----BEGIN PRIVATE KEY-----\n${toBase64(pkcs8)}\n-----END PRIVATE KEY-----\n`;
  return { key: await readPrivateKey(pem), pem };
}

/** The private keys that the user has made or chosen in this tab, by fingerprint. They are gone when the tab is reloaded or closed. */
const kept = new Map<string, SigningKey>();

/** Keeps a private key until the tab is reloaded or closed. */
export function keepKey(key: SigningKey): void {
  kept.delete(key.fingerprint);
  kept.set(key.fingerprint, key);
}

/** Returns the private key with a fingerprint that this tab keeps. */
export const keptKey = (fingerprint: string) => kept.get(fingerprint);

/** Returns the private key that the user has made or chosen last in this tab. */
export const latestKey = () => [...kept.values()].at(-1);

function bytesOf(body: string | undefined): Bytes {
  if (body === undefined) throw new UnusableKey('The file of the key is cut off: its END line is missing.');
  const bytes = fromBase64(body.replace(/\s/g, ''));
  if (!bytes) throw new UnusableKey('The file of the key is damaged: what stands between its first and last line is no base64.');
  return bytes;
}

/**
 * Imports a private key so that it signs and cannot be exported.
 * @param given the key as a JSON Web Key, or in PKCS#8
 * @throws UnusableKey
 */
async function signerOf(given: Jwk | Bytes) {
  const method = 'kty' in given ? methodOfJwk(given) : methodIn(given);
  if (!method) throw new UnusableKey('Approvals are signed with an Ed25519, ECDSA or RSA key. Choose one of these.');
  try {
    const jwk =
      'kty' in given
        ? given
        : ((await subtle.exportKey('jwk', await subtle.importKey('pkcs8', given, method, true, ['sign']))) as Jwk);
    const key = await subtle.importKey('jwk', jwk, method, false, ['sign']);
    const publicPart = Object.fromEntries(Object.entries(jwk).filter(([name]) => publicMembers.includes(name)));
    const publicKey = await subtle.importKey('jwk', publicPart, method, true, ['verify']);
    const spki = new Uint8Array(await subtle.exportKey('spki', publicKey));
    const wire = sshWireOf(spki);
    return {
      /** The public key, as a line of OpenSSH without a comment. */
      publicKey: `${toLatin1(wire.subarray(4, 4 + (wire[3] ?? 0)))} ${toBase64(wire)}`,
      /** The public key as SubjectPublicKeyInfo in DER, base64. */
      spki: toBase64(spki),
      /** The fingerprint of the public key, as `ssh-keygen -lf` prints it. */
      fingerprint: fingerprintOfSpki(spki),
      /** Signs the text of an approval, and returns the signature in base64. */
      sign: async (text: string) => {
        const bytes = new Uint8Array(await subtle.sign(method, key, new TextEncoder().encode(text)));
        return toBase64(method.name === 'ECDSA' ? derOf(bytes) : bytes);
      },
    };
  } catch (cause) {
    throw new UnusableKey(`The browser cannot use this ${method.name} key. ${elsewhere}`, { cause });
  }
}

/** The members of a JSON Web Key that a public key has. */
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e'];

/**
 * Returns the WebCrypto method that signs with a key in PKCS#8 (RFC 5958: a version, the algorithm, the key). Undefined for keys of other
 * types.
 */
function methodIn(der: Bytes): Method | undefined {
  const key = keyIn(derElements(der)[0]?.content.subarray(3));
  return key && methodOf(key);
}

function methodOfJwk({ kty, crv: namedCurve = '' }: Jwk): Method {
  return { name: kty === 'OKP' ? 'Ed25519' : kty === 'RSA' ? 'RSA-PSS' : 'ECDSA', hash: 'SHA-256', saltLength: 32, namedCurve };
}

/**
 * Converts an ECDSA signature to DER (RFC 3279), which the service reads. A browser writes the two numbers of the signature one after the
 * other.
 */
function derOf(signature: Uint8Array): Uint8Array {
  const half = signature.length / 2;
  return signatureInDer([signature.subarray(0, half), signature.subarray(half)].map(unsigned));
}
