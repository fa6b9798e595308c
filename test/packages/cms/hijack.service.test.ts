import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../../../local/stack.ts';
import { amount, sampleSeed } from '../../support/amounts.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { cmsIn } from './fake-terminal.ts';
import { writeSshKeys } from './ssh-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-hijack-'));
const key = `${writeSshKeys(folder)}.pub`;
let stack: Stack;
let as: Record<'alice' | 'mallory' | 'bob', ReturnType<typeof cmsIn>>;

beforeAll(async () => {
  stack = await startStack({ port: 0, simulator: false });
  const user = (userName: string) => cmsIn(join(folder, userName), { env: { CMS_SERVER: stack.baseUrl }, userName });
  as = { alice: user('alice'), mallory: user('mallory'), bob: user('bob') };
  for (const [name, role] of [
    ['alice', 'creator'],
    ['mallory', 'creator'],
    ['bob', 'dataset_provider'],
  ] as const) {
    await as[name]('login', '--local', '--role', role);
  }
});
afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true });
});

const lookAlikes: ((name: string, index: number) => string)[] = [
  (name, index) => `${name} ${index}`,
  (name) => name.toUpperCase(),
  (name, index) => `${name}${'\u200b'.repeat(index + 1)}`,
  (name) => name.replaceAll('a', '\u0430'),
  (name) => ` ${name}`,
  (name) => Array.from(name).slice(0, -1).join(''),
];
const letters = 'aeiou bcd';

describe('a name that another user imitates', () => {
  const random = seededRandom(sampleSeed);
  const lengths = Array.from({ length: amount({ sample: 2, full: 8 }) }, () => 1 + Math.floor(random() * 199));
  it.each([...lengths, 200])(
    `of %i characters leads no command of cms to the other's computation (seed ${sampleSeed})`,
    async (length) => {
      const name =
        `x${Array.from({ length: length - 1 }, () => letters[Math.floor(random() * letters.length)]).join('')}`.replace(
          / $/,
          'e',
        );
      const created = async (user: 'alice' | 'mallory', given: string) =>
        JSON.parse((await as[user]('computation', 'create', given, '--json')).stdout) as { id: string; owner: string };
      const { id } = await created('alice', name);
      const count = amount({ sample: 60, full: 300 });
      for (let index = 0; index < count; index++) {
        const given = lookAlikes[index % lookAlikes.length]?.(name, index) ?? '';
        if (Array.from(given).length <= 200 && given.trim() !== '' && given !== name) await created('mallory', given);
      }
      const uploaded = await as.bob('key', 'upload', key, name, '--json');
      const changing = { changing: { kind: 'computation', id, name, owner: 'alice' } };
      // Look-alikes make the answer long, and then no name is resolved. They never make it another one.
      if (uploaded.exitCode === 0) expect(JSON.parse(uploaded.stderr)).toEqual(changing);
      else expect(uploaded).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Use an identifier') });
      await created('mallory', name);
      const after = await as.bob('key', 'upload', key, name);
      expect(after).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`${id} of alice`) });
      expect(await as.bob('key', 'upload', key, id, '--json')).toMatchObject({
        exitCode: 0,
        stderr: `${JSON.stringify(changing)}\n`,
      });
    },
  );
});
