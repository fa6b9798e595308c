import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const root = new URL('../..', import.meta.url);

/** Returns the shell blocks of a section of the README, in order. */
export function blocksOf(section: string): string[] {
  const readme = readFileSync(new URL('README.md', root), 'utf8');
  const text = readme.split(`## ${section}\n`)[1]?.split('\n## ')[0] ?? '';
  return [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block);
}

/** Returns the block of shell commands of docs/watching.md. */
export function watchingLoop(): string {
  const [, loop = ''] = /^( {4}after=''\n(?: {4}.*\n)+)/m.exec(readFileSync(new URL('docs/watching.md', root), 'utf8')) ?? [];
  return loop;
}

/**
 * The shells that people paste lines into, with what makes each behave as at a prompt without anybody's configuration. zsh has
 * no comments at a prompt.
 */
export const shells = {
  bash: ['--noprofile', '--norc', '-c'],
  zsh: ['-f', '-o', 'no_interactive_comments', '-c'],
  dash: ['-c'],
  fish: ['--no-config', '-c'],
} as const;
export type Shell = keyof typeof shells;

/** Says whether the shell is on this machine. */
export function isThere(shell: Shell): boolean {
  return spawnSync(shell, [...shells[shell], 'exit 0']).status === 0;
}

/** Runs lines in a shell, in the folder of the repository. Returns what they print, on both outputs. */
export function runIn(
  shell: Shell,
  lines: string,
  { cwd = root, env = {} }: { cwd?: URL | string; env?: Record<string, string> } = {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn(shell, [...shells[shell], lines], { cwd, env: { ...process.env, ...env } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

/** The variables of a proxy that does not answer. NODE_USE_ENV_PROXY makes Node use it. */
export const deadProxy = {
  http_proxy: 'http://127.0.0.1:9',
  HTTP_PROXY: 'http://127.0.0.1:9',
  https_proxy: 'http://127.0.0.1:9',
  all_proxy: 'http://127.0.0.1:9',
  NODE_USE_ENV_PROXY: '1',
};

/** Runs the lines until the service says that it is ready, calls `use`, and ends the service. Returns what the lines print. */
export async function whileRunning(
  shell: Shell,
  lines: string,
  options: { cwd: string; env: Record<string, string> },
  use: (printed: string) => Promise<void> = () => Promise.resolve(),
): Promise<string> {
  const child = spawn(shell, [...shells[shell], lines], { ...options, env: { ...process.env, ...options.env }, detached: true });
  const ended = once(child, 'close');
  let output = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        output += String(chunk);
        if (output.includes('Press Ctrl-C')) resolve();
      });
    }
    child.once('close', () => reject(new Error(`It ended: ${output}`)));
  });
  try {
    await use(output);
  } finally {
    process.kill(-(child.pid ?? 0), 'SIGINT'); // as Ctrl-C does, to every process of the terminal
    await ended;
  }
  return output;
}
