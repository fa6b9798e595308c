import { createDecipheriv, createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cmsIn } from './fake-terminal.ts';

const content = Buffer.from('species,mass\n'.repeat(20_000));
let [folder, file] = ['', ''];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cms-'));
  file = join(folder, 'penguins.csv');
  writeFileSync(file, content);
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Decrypts a file as the agent does: 12 bytes of nonce, the ciphertext, 16 bytes of tag. */
function opened(sealed: Buffer, key: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAuthTag(sealed.subarray(-16));
  return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
}

const keyIn = (path: string) => Buffer.from(readFileSync(path, 'utf8').trim(), 'base64');
const sha = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('hex');

describe('cms encrypt', () => {
  it('encrypts a file as agents decrypt it, with a key and a copy that only the user can read', async () => {
    const copy = join(folder, 'copy.key');
    const { exitCode, stdout } = await cmsIn(folder)('encrypt', file, '--copy', copy, '--json');
    const key = keyIn(`${file}.key`);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      file: `${file}.enc`,
      key: `${file}.key`,
      copy,
      fingerprint: sha('sha256', key),
      checksum: sha('sha3-256', content),
      size: content.length + 28,
    });
    expect(opened(readFileSync(`${file}.enc`), key)).toEqual(content);
    expect(keyIn(copy)).toEqual(key);
    for (const each of [copy, `${file}.key`]) expect(statSync(each).mode & 0o777).toBe(0o600);
  });

  it('says that the file is lost with the key, and offers a second copy', async () => {
    const { stderr } = await cmsIn(folder)('encrypt', file);
    expect(stderr).toContain('Nobody can open it without the key: do not lose it.');
    expect(stderr).toContain('Keep a second copy of the key elsewhere');
  });

  it('encrypts again with the same key and another nonce', async () => {
    await cmsIn(folder)('encrypt', file);
    const [first, key] = [readFileSync(`${file}.enc`), keyIn(`${file}.key`)];
    expect((await cmsIn(folder)('encrypt', file)).exitCode).toBe(0);
    const second = readFileSync(`${file}.enc`);
    expect(keyIn(`${file}.key`)).toEqual(key);
    expect(second.subarray(0, 12)).not.toEqual(first.subarray(0, 12));
    expect(opened(second, key)).toEqual(content);
  });

  it.each([
    ['an encrypted file without its key', (): void => writeFileSync(`${file}.enc`, 'another'), [], 'and no key'],
    ['a file of another key', (): void => writeFileSync(`${file}.key`, 'dGlueQ==\n'), [], 'expected 32 bytes in base64'],
    ['a copy in the place of another file', (): void => writeFileSync(`${file}.2`, 'x'), ['--copy'], 'has no key'],
    ['the plain file as the output', (): void => undefined, ['--output'], 'are different files'],
  ])('refuses %s and replaces nothing', async (_, prepare, options, message) => {
    prepare();
    const value = options[0] === '--copy' ? `${file}.2` : file;
    const { exitCode, stderr } = await cmsIn(folder)('encrypt', file, ...options.flatMap((each) => [each, value]));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(readFileSync(file)).toEqual(content);
  });

  it('leaves no encrypted file when it is interrupted', async () => {
    const cms = cmsIn(folder, { signal: AbortSignal.abort() });
    expect((await cms('encrypt', file)).exitCode).toBe(130);
    expect([`${file}.enc`, `${file}.enc.part`].filter(existsSync)).toEqual([]);
  });
});

describe('cms asset key set', () => {
  const args = ['asset', 'key', 'set', 'penguins.csv', '--key', 'penguins.csv.key'];

  it('asks who holds the key before it connects, and refuses without an answer', async () => {
    const silent = await cmsIn(folder)(...args);
    expect(silent).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^Required option '--key-held <HOLDER>' not specified/),
    });
    const asked: string[] = [];
    const ask = async (question: string) => (asked.push(question), 'party');
    expect(await cmsIn(folder, { ask })(...args)).toMatchObject({ exitCode: 3 }); // not logged in
    expect(asked).toEqual(['HOLDER: ']);
  });
});
