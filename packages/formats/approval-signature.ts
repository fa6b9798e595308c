import { fromBase64 } from './bytes.ts';
import { joinedSignature } from './der.ts';
import { keyInSpki } from './public-key.ts';

interface Signed {
  text: string;
  key: string;
  /** Base64. */
  signature: string;
}

/**
 * Ed25519; ECDSA with SHA-256, in DER; RSA-PSS with SHA-256, MGF1 with SHA-256 and a salt of 32 bytes. False for other keys.
 * @returns undefined if this browser or Node cannot verify signatures of this kind
 */
export async function isSignatureOf({ text, key, signature }: Signed): Promise<boolean | undefined> {
  const [spki, bytes] = [fromBase64(key), fromBase64(signature)];
  const found = spki && keyInSpki(spki);
  if (!found || !bytes) return false;
  try {
    const { parameters, size } = methods(found);
    const imported = await crypto.subtle.importKey('spki', spki, parameters, false, ['verify']);
    const joined = size === undefined ? bytes : joinedSignature(bytes, size);
    return await crypto.subtle.verify({ ...parameters, saltLength: 32 }, imported, joined, new TextEncoder().encode(text));
  } catch (error) {
    return error instanceof DOMException && error.name === 'NotSupportedError' ? undefined : false;
  }
}

function methods(key: NonNullable<ReturnType<typeof keyInSpki>>) {
  switch (key.algorithm) {
    case 'ed25519':
      return { parameters: { name: 'Ed25519' } };
    case 'ecdsa': {
      const { name: namedCurve, size } = key.curve;
      return { parameters: { name: 'ECDSA', namedCurve, hash: 'SHA-256' }, size };
    }
    case 'rsa':
      return { parameters: { name: 'RSA-PSS', hash: 'SHA-256' } };
  }
}
