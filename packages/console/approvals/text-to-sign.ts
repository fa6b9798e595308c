import { sha3_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { Limits } from './limits.ts';

interface Approved {
  domain: string;
  computation: string;
  /** The digest of the manifest. */
  digest: string;
  limits: Limits;
}

/** Returns the text that a user signs to approve a manifest (docs/contract.md, section 9). */
export function textToSign({ domain, computation, digest, limits: { cvm_ids, expires_at } }: Approved): string {
  const text = `computation-approval:v1:${domain}:${computation}:${digest}`;
  if (cvm_ids === undefined && expires_at === undefined) return text;
  const canonicalJson = JSON.stringify({ cvm_ids, expires_at }); // of strings only, with its members in order
  return `${text}:${bytesToHex(sha3_256(utf8ToBytes(canonicalJson)))}`;
}
