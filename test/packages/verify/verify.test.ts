import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesOf, genuineEvidence } from './genuine-evidence.ts';

const program = fileURLToPath(new URL('../../../packages/verify/verify.ts', import.meta.url));
const genuine = genuineEvidence();
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'evidence-'));
  const { evidence, keys, events, tokens, roots } = filesOf(genuine);
  for (const token of tokens) writeFileSync(join(folder, 'token.bin'), token);
  for (const root of roots) writeFileSync(join(folder, 'root.bin'), root);
  write('evidence.json', evidence);
  write('keys.json', keys);
  write('events.json', events[0] ?? '');
  write('journal.json', JSON.stringify([...genuine.before, ...genuine.events]));
  write('fewer.json', JSON.stringify(genuine.events.toSpliced(3, 1)));
  write('broken.json', '{');
});
afterAll(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): void {
  writeFileSync(join(folder, name), content);
}

function verify(...words: string[]) {
  const given = words.map((word) => (/\.(json|bin)$/.test(word) ? join(folder, word) : word));
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...given], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

describe('npm run verify', () => {
  it('prints a line for each fact and the number of notes, and exits with 0 if everything that was checked holds', () => {
    const words = ['evidence.json', '--keys', 'keys.json', '--events', 'journal.json', '--token', 'token.bin'];
    const { status, stdout } = verify(...words, '--root', 'root.bin');
    expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([
      0,
      expect.stringMatching(/^Everything that was checked holds \(\d notes?\)\.$/),
    ]);
    expect(stdout).toMatch(/^HOLDS {10}The statement is signed by the key /);
    expect(stdout).toMatch(/^HOLDS {10}The token .* is verified as of /m);
    expect(stdout).toMatch(/^NOTE {11}"dave" approved this manifest and configuration without a signature/m);
    expect(verify(...words).status).toBe(1);
  });

  it('exits with 3 and names what it did not check if nothing is false', () => {
    const { status, stdout } = verify('evidence.json', '--keys', 'keys.json', '--events', 'events.json');
    expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([
      3,
      expect.stringMatching(/^Nothing is false, but 3 facts were not checked \(\d notes?\)\.$/),
    ]);
    expect(stdout).toMatch(/^NOT CHECKED {4}The token "[0-9a-f]{64}" was not given/m);
    expect(stdout).toMatch(
      /^NOT CHECKED {4}Not all tokens were checked, so the attestation policy of the run was not checked\.$/m,
    );
    expect(stdout).toMatch(/^NOT CHECKED {4}The events before "started" .* are missing, so they were not checked\.$/m);
  });

  it('exits with 1 and names what does not hold', () => {
    const { status, stdout } = verify('evidence.json', '--keys', 'keys.json', '--events', 'fewer.json');
    expect([status, stdout.trimEnd().split('\n').at(-1)]).toEqual([1, expect.stringMatching(/^1 of \d+ facts does not hold\.$/)]);
    expect(stdout).toMatch(/^DOES NOT HOLD {2}The event .* does not follow the event .*: an event between them is missing/m);
  });

  it('exits with 2 and names the file that it cannot read', () => {
    for (const [file, message] of [
      ['none.json', /^Cannot read .*none\.json: /],
      ['broken.json', /^The evidence is not JSON/],
    ] as const) {
      const { status, stdout, stderr } = verify(file, '--keys', 'keys.json');
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(message);
    }
  });

  it('exits with 2 and explains itself if a file or the keys are not given', () => {
    for (const words of [
      [],
      ['evidence.json'],
      ['--keys', 'keys.json'],
      ['evidence.json', '--keys', 'keys.json', 'events.json'],
    ]) {
      const { status, stderr } = verify(...words);
      expect([status, stderr]).toEqual([2, expect.stringContaining('Usage: computation-management-verify')]);
    }
    expect(verify('--help')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Usage: computation-management-verify'),
    });
    expect(verify('--unknown').status).toBe(2);
  });
});
