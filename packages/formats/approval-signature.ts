import { fromBase64, fromHex, joinedSignature } from './bytes.ts';
import { keyInSpki, type RawKey } from './public-key.ts';

interface Signed {
  text: string;
  key: string;
  /** The signature of the text, in base64. */
  signature: string;
}

/**
 * Returns whether a signature is that of a text by a public key: Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1
 * with SHA-256 and a salt of 32 bytes. False for other kinds of keys.
 * @returns undefined if this browser or Node cannot verify signatures of this kind
 */
export async function isSignatureOf({ text, key, signature }: Signed): Promise<boolean | undefined> {
  const [spki, bytes] = [fromBase64(key), fromBase64(signature)];
  const found = spki && keyInSpki(spki);
  if (!found || !bytes) return false;
  try {
    const method = methodOf(found);
    const imported = await crypto.subtle.importKey('spki', spki, method, false, ['verify']);
    const joined = found.algorithm === 'ecdsa' ? joinedSignature(bytes, found.curve.size) : bytes;
    // Node also takes one without its leading zeros, browsers do not.
    if (found.algorithm === 'rsa' && bytes.length !== fromHex(found.modulus.toString(16)).length) return false;
    return await crypto.subtle.verify(method, imported, joined, new TextEncoder().encode(text));
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotSupportedError' ? undefined : false;
  }
}

const names = { ed25519: 'Ed25519', ecdsa: 'ECDSA', rsa: 'RSA-PSS' };

/**
 * Returns the signature algorithm of a public key as WebCrypto names it, with all parameters that WebCrypto needs to import the
 * key, sign and verify.
 */
export function methodOf(key: RawKey) {
  const curve = key.algorithm === 'ecdsa' ? { namedCurve: key.curve.name } : {};
  return { name: names[key.algorithm], hash: 'SHA-256', saltLength: 32, ...curve };
}
