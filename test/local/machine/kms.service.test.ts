import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifiesEs256 } from 'computation-management-formats/es256';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localKms } from '../../../local/machine/kms.ts';
import { readPublishedKeys, sign } from '../../../shared/evidence/signing-key.ts';
import type { Kms } from '../../../shared/runtime/clients.ts';

let data: string;
let file: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'keys-'));
  file = join(data, 'evidence-keys.json');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(data, { recursive: true });
});

/** Opens the keys as `npm start` does, and sets the functions' variables. */
function open(dataDirectory: string | undefined = data): Kms {
  const { kms, signingKeyArn, publishedKeyArns } = localKms(dataDirectory);
  vi.stubEnv('SIGNING_KEY_ARN', signingKeyArn);
  vi.stubEnv('PUBLISHED_KEY_ARNS', publishedKeyArns.join(','));
  return kms;
}

interface Kept {
  keys: { d: string }[];
}
const kept = () => JSON.parse(readFileSync(file, 'utf8')) as Kept;

describe('the keys that sign evidence on one machine', () => {
  it('sign statements of any size, for which their public keys verify', async () => {
    const keys = open();
    const [jwk, ...others] = await readPublishedKeys(keys);
    expect(others).toEqual([]);
    for (const text of ['', 'statement', 'x'.repeat(300_000)]) {
      const { signature, key_id } = await sign(keys, text);
      expect(key_id).toBe(jwk?.kid);
      expect(jwk && (await verifiesEs256(text, signature, jwk))).toBe(true);
    }
  });

  it('are the same after a restart, in a file that only this user can read', async () => {
    const before = await readPublishedKeys(open());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readPublishedKeys(open())).toEqual(before);
  });

  it('are new at each start without a directory', () => {
    expect(localKms(undefined).publishedKeyArns).not.toEqual(localKms(undefined).publishedKeyArns);
  });

  it('stay published when a newer one signs', async () => {
    const [old] = await readPublishedKeys(open());
    const { keys } = kept();
    rmSync(file);
    open();
    writeFileSync(file, JSON.stringify({ keys: [...keys, ...kept().keys] }));
    const opened = open();
    const published = await readPublishedKeys(opened);
    expect([published.length, published[0]]).toEqual([2, old]);
    expect((await sign(opened, 'statement')).key_id).toBe(published[1]?.kid);
  });

  it.each([
    ['empty', ''],
    ['not complete', '{"keys": ['],
    ['without a key', '{"keys": []}'],
  ])('prevent the start, with instructions, if their file is %s', (_what, content) => {
    writeFileSync(file, content);
    expect(() => open()).toThrow(/evidence-keys\.json: .*Without it, evidence issued earlier verifies only with a copy/s);
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('have no others beside them', async () => {
    await expect(open().sign('none', Buffer.alloc(32))).rejects.toMatchObject({ name: 'NotFoundException' });
  });
});
