import { methodOf } from 'computation-management-formats/approval-signature';
import { type Bytes, fromBase64, toBase64 } from 'computation-management-formats/bytes';
import { derElements, signatureInDer, unsigned } from 'computation-management-formats/der';
import { keyIn } from 'computation-management-formats/public-key';
import { type Jwk, readOpenSshKey, UnusableKey } from './openssh-key.ts';

/**
 * A function that signs the text of an approval and returns the signature in base64. The private key cannot be read out of the function.
 */
export type Sign = (text: string) => Promise<string>;

const { subtle } = crypto;
type Method = ReturnType<typeof methodOf>;

const elsewhere = 'Approve with the command below instead.';

/**
 * Reads a private key, which stays in the page: PEM in PKCS#8, or OpenSSH, also with a passphrase.
 * @throws NeedsPassphrase, or UnusableKey with what the user can do
 */
export async function readPrivateKey(text: string, passphrase = ''): Promise<Sign> {
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

function bytesOf(body: string | undefined): Bytes {
  if (body === undefined) throw new UnusableKey('The file of the key is cut off: its END line is missing.');
  const bytes = fromBase64(body.replace(/\s/g, ''));
  if (!bytes) throw new UnusableKey('The file of the key is damaged: what stands between its first and last line is no base64.');
  return bytes;
}

/**
 * Imports a private key and returns the function that signs with the key.
 * @param given the key as a JSON Web Key, or in PKCS#8
 * @throws UnusableKey
 */
async function signerOf(given: Jwk | Bytes): Promise<Sign> {
  const method = 'kty' in given ? methodOfJwk(given) : methodIn(given);
  if (!method) throw new UnusableKey('Approvals are signed with an Ed25519, ECDSA or RSA key. Choose one of these.');
  const imported =
    'kty' in given
      ? subtle.importKey('jwk', given, method, false, ['sign'])
      : subtle.importKey('pkcs8', given, method, false, ['sign']);
  const key = await imported.catch((cause: unknown) => {
    throw new UnusableKey(`The browser cannot use this ${method.name} key. ${elsewhere}`, { cause });
  });
  return async (text) => {
    const bytes = new Uint8Array(await subtle.sign(method, key, new TextEncoder().encode(text)));
    return toBase64(method.name === 'ECDSA' ? derOf(bytes) : bytes);
  };
}

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
