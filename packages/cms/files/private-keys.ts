import { holdsPrivateKey } from 'computation-management-formats/holds-private-key';

/** Larger files are no keys. */
export const largestKeyInBytes = 64 * 1024;

/** Whether a file is a private key, by the rules of the service, also in UTF-16. */
export function isPrivateKey(content: Buffer): boolean {
  const text = content.toString('latin1');
  return holdsPrivateKey(text) || holdsPrivateKey(text.replaceAll('\0', ''));
}
