import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodeOf, tailOf } from '../rehearse/run-command.ts';

/** The programs of a CVM, and the command line of its users. */
const programs = ['agent', 'computation-runner', 'log-forwarder', 'attestation-service', 'cli'] as const;
export type Program = (typeof programs)[number];

export interface Build {
  /** The checkout of github.com/ultravioletrs/cocos. It is not changed. */
  source: string;
  /** Where the programs and the log of the build go. */
  directory: string;
  /** Modules that the module proxy does not have, each as `module=directory`. */
  replacements: string[];
}

/**
 * Builds the programs, unmodified. Go skips what it has built before.
 * @throws Error with the end of Go's output
 */
export async function buildAgent({ source, directory, replacements }: Build): Promise<(program: Program) => string> {
  if (!existsSync(join(source, 'cmd/computation-runner'))) {
    throw new Error(`${source} is no checkout of github.com/ultravioletrs/cocos of version 0.10.2 or newer.`);
  }
  mkdirSync(directory, { recursive: true });
  const modFile = join(directory, 'go.mod');
  for (const name of ['go.mod', 'go.sum']) copyFileSync(join(source, name), join(directory, name));
  for (const replacement of replacements) await go(['mod', 'edit', `-replace=${replacement}`, modFile], { source, directory });
  const packages = programs.map((program) => `./cmd/${program}`);
  await go(['build', `-modfile=${modFile}`, '-buildvcs=false', '-o', `${directory}/`, ...packages], { source, directory });
  return (program) => join(directory, program);
}

async function go(args: string[], { source, directory }: Pick<Build, 'source' | 'directory'>): Promise<void> {
  const logFile = join(directory, 'build.log');
  const environment = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
  const code = await exitCodeOf({ words: ['go', '-C', source, ...args], environment, logFile });
  if (code !== 0) throw new Error(`\`go ${args.join(' ')}\` failed:\n\n${tailOf(logFile)}`);
}

/** The commit of the checkout, for the report. */
export async function commitOf(source: string): Promise<string> {
  const child = spawn('git', ['-C', source, 'rev-parse', '--short=8', 'HEAD'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  await new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  return text.trim() || 'unknown';
}
