import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { BrokenFilesError } from '../data/broken-files-error.ts';
import { readKeptJson } from '../data/read-kept-json.ts';
import { writeKeptFile } from '../data/write-kept-file.ts';

const privateJwk = v.object({
  kty: v.literal('EC'),
  crv: v.literal('P-256'),
  x: v.string(),
  y: v.string(),
  d: v.string(),
});

/** A private key on P-256. */
export type PrivateJwk = v.InferOutput<typeof privateJwk>;

/** The last key signs. The others signed before it, and stay so that their evidence can be verified. */
const keptKeys = v.object({ keys: v.pipe(v.array(privateJwk), v.nonEmpty()) });

/**
 * Returns the keys that sign evidence on this machine, oldest first. Keeps them in `evidence-keys.json` under `dataDirectory`,
 * where only this user can read them; without it, evidence of before a restart verifies only with a copy of its public key.
 * @throws BrokenFilesError
 */
export function evidenceKeys(dataDirectory: string | undefined): PrivateJwk[] {
  if (dataDirectory === undefined) return [newKey()];
  const file = join(dataDirectory, 'evidence-keys.json');
  const kept = readKeptJson(file, keptKeys);
  if (kept !== undefined) {
    if ('content' in kept) return kept.content.keys;
    const withoutIt = 'Without it, evidence issued earlier verifies only with a copy of its public key.';
    throw new BrokenFilesError([{ file, problem: kept.problem, withoutIt }]);
  }
  const keys = [newKey()];
  writeKeptFile(file, JSON.stringify({ keys }));
  return keys;
}

function newKey(): PrivateJwk {
  return v.parse(privateJwk, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));
}
