import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { localKms } from '../../../local/machine/kms.ts';
import { digestOfKey, openKey, sealKey, type StoredKey } from '../../../shared/rows/sealed-key.ts';

const { kms, sealingKeyArn } = localKms(undefined);
beforeEach(() => vi.stubEnv('SEALING_KEY_ARN', sealingKeyArn));
afterEach(() => vi.unstubAllEnvs());

const sealed = async (plain: string, id = 'c1') =>
  (await sealKey(kms, { owner: { computation: id }, plain })) as StoredKey & { sealed: string };

describe('a sealed key', () => {
  it.each(['/etc/cocos/key.pem', '-----BEGIN PRIVATE KEY-----', 'x'.repeat(16 * 1024), 'é\u0000'])(
    'opens to %.20s',
    async (plain) => {
      const kept = await sealed(plain);
      expect(await openKey(kms, { computation: 'c1' }, kept)).toBe(plain);
      expect(kept.digest).toBe(digestOfKey(plain));
    },
  );

  it('does not contain the key, and is another one each time', async () => {
    const [one, other] = [await sealed('PRIVATE'), await sealed('PRIVATE')];
    expect(Buffer.from(one.sealed, 'base64').includes('PRIVATE')).toBe(false);
    expect(one.sealed).not.toBe(other.sealed);
    expect(one.digest).toBe(other.digest);
  });

  it('of 16 KiB takes at most 24 KB, so that an item has room for it', async () => {
    expect((await sealed('x'.repeat(16 * 1024))).sealed.length).toBeLessThan(24_000);
  });

  it('does not open for another computation', async () => {
    await expect(openKey(kms, { computation: 'c2' }, await sealed('PRIVATE'))).rejects.toMatchObject({
      name: 'InvalidCiphertextException',
    });
  });

  it('does not open if any byte of it was changed', async () => {
    const kept = await sealed('PRIVATE');
    const bytes = Buffer.from(kept.sealed, 'base64');
    for (const index of [2, 20, bytes.length - 30, bytes.length - 10, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      await expect(openKey(kms, { computation: 'c1' }, { ...kept, sealed: changed.toString('base64') })).rejects.toThrow();
    }
  });
});

describe('sealKey and openKey', () => {
  it('do not call KMS without a key', async () => {
    vi.stubEnv('SEALING_KEY_ARN', '');
    expect([
      await sealKey(kms, { owner: { computation: 'c1' }, plain: '' }),
      await openKey(kms, { computation: 'c1' }, ''),
    ]).toEqual(['', '']);
  });
});
