import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../../packages/cms/run-cms.ts';
import { isThere } from '../../support/readme.ts';
import { cmsIn } from './fake-terminal.ts';

const folder = mkdtempSync(join(tmpdir(), 'cms-'));
const scripts = { bash: join(folder, 'cms.bash'), zsh: join(folder, '_cms') };
const cms = cmsIn(folder);

beforeAll(async () => {
  for (const shell of ['bash', 'zsh'] as const) writeFileSync(scripts[shell], (await cms('completion', shell)).stdout);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the words that zsh offers after a command line. `FILES` stands for names of files. */
function offeredByZsh(...words: string[]): string[] {
  const line = `
    compdef() { :; }
    compset() { :; }
    _describe() { print -rl -- "\${(@)\${(P)@[-1]}%%:*}"; }
    _files() { print FILES; }
    compadd() { print -rl -- "\${@[2,-1]}"; }
    . "$1"
    words=("\${(@)argv[2,-1]}")
    CURRENT=$#words
    _cms`;
  const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', line, 'zsh', scripts.zsh, ...words], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.trim().split('\n');
}

/** Returns the words that bash offers after a command line. */
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
    expect(offered('cms', 'asset', 'd')).toEqual(['declare', 'download', 'delete']);
    expect(offered('cms', 'run', '--w')).toEqual(['--watch']);
    expect(offered('cms', 'run', 'Incomes', '--pro')).toEqual(['--profile']);
  });

  it.skipIf(!isThere('bash'))('completes files where a command takes one', () => {
    writeFileSync(join(folder, 'penguins.csv'), '');
    writeFileSync(join(folder, 'my data *.csv'), '');
    expect(offered('cms', 'asset', 'upload', 'peng')).toEqual(['penguins.csv']);
    for (const begun of ['my', 'my\\ d', '"my d', "'my d"])
      expect(offered('cms', 'asset', 'upload', begun)).toEqual(['my data *.csv']);
  });

  const places: [string[], string[]][] = [
    [
      ['asset', 'upload', '--type', ''],
      ['algorithm', 'dataset'],
    ],
    [
      ['computation', 'list', '--status', ''],
      ['created', 'running', 'stopping', 'completed', 'failed', 'cancelled'],
    ],
    [
      ['runs', '--status', ''],
      ['running', 'stopping', 'completed', 'failed', 'cancelled'],
    ],
    [['computation', 'update', '--name', ''], ['']],
    [
      ['--profile', 'run', 'asset', 'upload', '--use', ''],
      ['open', 'approval'],
    ],
  ];

  it.skipIf(!isThere('bash'))('completes the values of options, and nothing else after an option, in bash', () => {
    for (const [words, values] of places) expect(offered('cms', ...words)).toEqual(values);
    expect(offered('cms', 'asset', 'upload', '--type', 'd')).toEqual(['dataset']);
    expect(offered('cms', 'asset', 'upload', '--type', '=', 'd')).toEqual(['dataset']);
    expect(offered('cms', 'asset', 'upload', '--type', '=', 'dataset', '--us')).toEqual(['--use']);
    expect(offered('cms', 'completion', 'z')).toEqual(['zsh']);
    expect(offered('cms', 'login', '--role', 'ed')).toEqual(['editor']);
    expect(offered('cms', 'approve', '--sign', 'cms')).toEqual(['cms.bash']);
    expect(offered('cms', 'verify', 'cms')).toEqual(['cms.bash']);
  });

  it.skipIf(!isThere('zsh'))('completes the values of options, and nothing else after an option, in zsh', () => {
    for (const [words, values] of places) expect(offeredByZsh('cms', ...words)).toEqual(values);
    expect(offeredByZsh('cms', 'asset', 'upload', '--type=')).toEqual(['algorithm', 'dataset']);
    expect(offeredByZsh('cms', 'completion', '')).toEqual(expect.arrayContaining(['bash', 'zsh']));
    expect(offeredByZsh('cms', 'approve', '--sign', '')).toEqual(['FILES']);
  });

  it('knows an option by its name: it takes a value in all commands, or in none', () => {
    type Command = ReturnType<typeof createProgram>;
    const withCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(withCommands)];
    const options = withCommands(createProgram('0.1.0', () => async () => undefined)).flatMap((command) => command.options);
    const taking = options.filter(({ required }) => required).map(({ long }) => long);
    expect(options.filter(({ required, long }) => !required && taking.includes(long))).toEqual([]);
    expect(options.filter(({ optional }) => optional)).toEqual([]);
  });

  it.skipIf(!isThere('zsh'))('is valid in zsh', () => {
    const line = `autoload -U compinit && compinit -u -d "$1" && . "$0" && print -r -- $_comps[cms]`;
    const { stdout, stderr } = spawnSync('zsh', ['-f', '-c', line, scripts.zsh, join(folder, 'dump')], { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: '_cms\n', stderr: '' });
  });

  it.skipIf(!isThere('bash'))('completes names of computations, assets and CVMs in bash and zsh', () => {
    const asked = join(folder, 'cms');
    writeFileSync(asked, '#!/bin/sh\n[ "$1 $2" = "complete computation" ] && printf "My study\\nMine\\n"\n', { mode: 0o755 });
    const path = process.env['PATH'];
    process.env['PATH'] = `${folder}:${path ?? ''}`;
    try {
      expect(offered('cms', 'check', 'My')).toEqual(['My\\ study', 'Mine']);
      expect(offered('cms', 'asset', 'upload', '--computation', 'M')).toEqual(['My\\ study', 'Mine']);
      expect(offered('cms', 'asset', 'show', '--js')).toEqual(['--json']);
      if (!isThere('zsh')) return;
      expect(offeredByZsh('cms', 'computation', 'show', 'M').slice(-2)).toEqual(['My study', 'Mine']);
    } finally {
      process.env['PATH'] = path;
      rmSync(asked);
    }
  });

  it('refuses another shell', async () => {
    expect(await cms('completion', 'fish')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Allowed choices are bash, zsh'),
    });
  });
});
