import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isThere } from '../support/readme.ts';
import { cmsIn } from './fake-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const scripts = { bash: join(folder, 'cms.bash'), zsh: join(folder, '_cms') };
const cms = cmsIn(folder);

beforeAll(async () => {
  for (const shell of ['bash', 'zsh'] as const) writeFileSync(scripts[shell], (await cms('completion', shell)).stdout);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What bash offers after these words. */
function offered(...words: string[]): string[] {
  const line = `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cms; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', line, scripts.bash, ...words], { encoding: 'utf8', cwd: folder });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

describe('cms completion', () => {
  it('prints the script in JSON with --json', async () => {
    const { stdout } = await cms('completion', 'bash', '--json');
    expect(JSON.parse(stdout)).toEqual({ shell: 'bash', script: readFileSync(scripts.bash, 'utf8') });
  });

  it.skipIf(!isThere('bash'))('completes commands, subcommands and options in bash', () => {
    expect(offered('cms', 'comp')).toEqual(['computation', 'completion']);
    expect(offered('cms', 'asset', 'd')).toEqual(['download', 'delete']);
    expect(offered('cms', 'run', '--w')).toEqual(['--watch']);
    expect(offered('cms', 'run', 'Incomes', '--pro')).toEqual(['--profile']);
  });

  it.skipIf(!isThere('bash'))('completes files where a command takes one', () => {
    writeFileSync(join(folder, 'penguins.csv'), '');
    expect(offered('cms', 'asset', 'upload', 'peng')).toEqual(['penguins.csv']);
  });

  it.skipIf(!isThere('zsh'))('is valid in zsh', () => {
    const line = `autoload -U compinit && compinit -u -d "$1" && . "$0" && print -r -- $_comps[cms]`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', line, scripts.zsh, join(folder, 'dump')], { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: '_cms\n', stderr: '' });
  });

  it('refuses another shell', async () => {
    expect(await cms('completion', 'fish')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Allowed choices are bash, zsh'),
    });
  });
});
