import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetPublicKeyCommand, KMSClient, SignCommand } from '@aws-sdk/client-kms';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type LocalKms, startKms } from '../../../local/kms/kms.ts';
import { localCredentials } from '../../../local/local-credentials.ts';
import { keyObjectOf, verifiesEs256 } from '../../../shared/evidence/es256.ts';
import { readPublishedKeys, sign } from '../../../shared/evidence/signing-key.ts';

let data: string;
let file: string;
const running = new Set<LocalKms>();

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'keys-'));
  file = join(data, 'evidence-keys.json');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const kms of running) await kms.stop();
  running.clear();
  rmSync(data, { recursive: true });
});

/** Starts the keys as `npm start` does, and sets the functions' variables. */
async function start(options: { dataDirectory?: string } = { dataDirectory: data }) {
  const kms = await startKms(options);
  running.add(kms);
  const { endpoint, signingKeyArn, publishedKeyArns } = kms.place;
  vi.stubEnv('SIGNING_KEY_ARN', signingKeyArn);
  vi.stubEnv('PUBLISHED_KEY_ARNS', publishedKeyArns.join(','));
  return { client: new KMSClient({ endpoint, region: 'local', credentials: localCredentials, maxAttempts: 1 }), signingKeyArn };
}

interface Kept {
  keys: { d: string }[];
}
const kept = () => JSON.parse(readFileSync(file, 'utf8')) as Kept;

describe('the keys that sign evidence on one machine', () => {
  it('sign statements of any size, for which their public keys verify', async () => {
    const keys = await start();
    const [jwk, ...others] = await readPublishedKeys(keys);
    expect(others).toEqual([]);
    for (const text of ['', 'statement', 'x'.repeat(300_000)]) {
      const { signature, key_id } = await sign(keys, text);
      expect(key_id).toBe(jwk?.kid);
      expect(jwk && verifiesEs256(text, signature, keyObjectOf(jwk))).toBe(true);
    }
  });

  it('are the same after a restart, in a file that only this user can read', async () => {
    const before = await readPublishedKeys(await start());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readPublishedKeys(await start())).toEqual(before);
  });

  it('are new at each start without a directory', async () => {
    const [one, other] = [await readPublishedKeys(await start({})), await readPublishedKeys(await start({}))];
    expect(one).not.toEqual(other);
  });

  it('stay published when a newer one signs', async () => {
    const [old] = await readPublishedKeys(await start());
    const { keys } = kept();
    rmSync(file);
    await start();
    writeFileSync(file, JSON.stringify({ keys: [...keys, ...kept().keys] }));
    const opened = await start();
    const published = await readPublishedKeys(opened);
    expect([published.length, published[0]]).toEqual([2, old]);
    expect((await sign(opened, 'statement')).key_id).toBe(published[1]?.kid);
  });

  it.each([
    ['empty', ''],
    ['not complete', '{"keys": ['],
    ['without a key', '{"keys": []}'],
  ])('prevent the start, with instructions, if their file is %s', async (_what, content) => {
    writeFileSync(file, content);
    await expect(start()).rejects.toThrow(
      /evidence-keys\.json: .*Without it, evidence issued earlier verifies only with a copy/s,
    );
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it('are refused to those who ask for another key or another operation', async () => {
    const { client, signingKeyArn } = await start();
    const unknown = new GetPublicKeyCommand({ KeyId: 'arn:aws:kms:local:000000000000:key/none' });
    await expect(client.send(unknown)).rejects.toMatchObject({ name: 'NotFoundException' });
    const raw = new SignCommand({
      KeyId: signingKeyArn,
      Message: Buffer.from('statement'),
      MessageType: 'RAW',
      SigningAlgorithm: 'ECDSA_SHA_256',
    });
    await expect(client.send(raw)).rejects.toMatchObject({ name: 'ValidationException' });
  });
});
