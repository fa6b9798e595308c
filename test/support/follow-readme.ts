import { execFile } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

/** A step of a README: a line for a shell, or a file that the sentence before its block names. */
export type Step = { line: string } | { file: string; text: string };

/** Returns what a reader of a README types and saves, in order. Other blocks of code, which name no file, are parts of a program. */
function stepsOf(readme: string): Step[] {
  const blocks = readFileSync(readme, 'utf8').matchAll(/(?:`([\w.-]+)`:\n\n)?^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, file, language, text = '']): Step[] => {
    if (language === 'sh')
      return text
        .trimEnd()
        .split('\n')
        .map((line) => ({ line }));
    return file === undefined ? [] : [{ file, text }];
  });
}

/** The machine and the files that a reader of a README has. */
export interface Surroundings {
  /** Files in the reader's folder, by name. */
  files?: Record<string, string | Uint8Array>;
  /** The addresses to put in the place of those of a README, such as that of a service with another port. */
  addresses?: Record<string, string>;
  env?: Record<string, string>;
}

const isOwnNode = (folder: string) => !folder.includes('node_modules') && existsSync(join(folder, 'node'));

/** The folder of the Node of this machine, which may be older than the one that runs the scripts of this repository. */
export const ownNode = (process.env['PATH'] ?? '').split(delimiter).find(isOwnNode) ?? dirname(process.execPath);

/**
 * Follows the README of a package: packs it in a checkout, unless there is a tarball already, and does everything else in an empty folder.
 * @param node the folder of the Node that runs all but the packing. Default: that of this machine
 * @returns the folder, and what the lines have printed
 */
export async function followReadme(
  readme: string,
  source: { checkout: string } | { tarball: string },
  { files = {}, addresses = {}, env = {} }: Surroundings = {},
  node = ownNode,
): Promise<{ folder: string; printed: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'stranger-'));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  if ('tarball' in source) copyFileSync(source.tarball, join(folder, basename(source.tarball)));
  const here = (text: string) => Object.entries(addresses).reduce((all, [from, to]) => all.replaceAll(from, to), text);
  let printed = '';
  for (const step of stepsOf(readme)) {
    if ('file' in step) {
      writeFileSync(join(folder, step.file), here(step.text));
    } else if (!step.line.startsWith('npm pack ')) {
      printed += await run(here(step.line), folder, { HOME: folder, ...env, PATH: `${node}:${process.env['PATH']}` });
    } else if ('checkout' in source) {
      const [tarball = ''] = (await run(step.line, source.checkout)).trim().split('\n').slice(-1);
      copyFileSync(join(source.checkout, tarball), join(folder, tarball));
    }
  }
  return { folder, printed };
}

async function run(line: string, cwd: string, env: Record<string, string> = {}): Promise<string> {
  const ofNpm = {
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_loglevel: 'error',
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_update_notifier: 'false',
  };
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd, env: { ...process.env, ...ofNpm, ...env } });
  return stdout;
}
