import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as v from 'valibot';
import { BrokenFilesError } from '../data/broken-files-error.ts';
import { readKeptJson } from '../data/read-kept-json.ts';
import { writeKeptFile } from '../data/write-kept-file.ts';

const keyBytes = 32;
const keptKey = v.object({
  key: v.pipe(
    v.string(),
    v.base64(),
    v.check((key) => Buffer.from(key, 'base64').length === keyBytes, `Expected ${keyBytes} bytes.`),
  ),
});

/**
 * Returns the key that seals private keys on this machine. Keeps it in `sealing-key.json` under `dataDirectory`, where only this
 * user can read it; without `dataDirectory`, what it sealed lasts as long as the key.
 * @throws BrokenFilesError
 */
export function sealingKey(dataDirectory: string | undefined): Buffer {
  if (dataDirectory === undefined) return randomBytes(keyBytes);
  const file = join(dataDirectory, 'sealing-key.json');
  const kept = readKeptJson(file, keptKey);
  if (kept !== undefined) {
    if ('content' in kept) return Buffer.from(kept.content.key, 'base64');
    const withoutIt = 'Without it, the private keys in the configurations of computations cannot be read.';
    throw new BrokenFilesError([{ file, problem: kept.problem, withoutIt }]);
  }
  const key = randomBytes(keyBytes);
  writeKeptFile(file, JSON.stringify({ key: key.toString('base64') }));
  return key;
}
