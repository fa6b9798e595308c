import { fromBase64 } from 'computation-management-formats/bytes';
import { hashOfBytes } from 'computation-management-formats/digests';

const keyBytes = 32;

/** The key of an encrypted file. */
export interface FileKey {
  base64: string;
  /** The SHA-256 of the key, 64 hex digits. */
  fingerprint: string;
}

/** Reads the key of an encrypted file, as `cms encrypt` writes it. Returns what is wrong with the file if it has no such key. */
export async function readFileKey(file: Pick<File, 'size' | 'text'>): Promise<FileKey | string> {
  const longestFile = 1_000;
  const base64 = file.size > longestFile ? '' : await file.text().then((text) => text.trim(), String);
  const bytes = fromBase64(base64);
  if (bytes?.length === keyBytes) return { base64, fingerprint: hashOfBytes(bytes) };
  return 'This is no key of a file. Expected 32 bytes in base64, as cms encrypt writes them.';
}
