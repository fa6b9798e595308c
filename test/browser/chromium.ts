import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import sparticuz from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

const cache = join(import.meta.dirname, '../../node_modules/.cache');

/** The program of a browser, and the variables that it needs. */
export interface ChromiumProgram {
  executablePath: string;
  env: Record<string, string>;
}

/**
 * Finds a Chromium: the one that `CHROMIUM` names, the one of an npm package (Linux x64), or an installed Chrome. Undefined if there
 * is none.
 */
export async function findChromium(): Promise<ChromiumProgram | undefined> {
  const named = process.env['CHROMIUM'];
  if (named) return { executablePath: named, env: {} };
  if (process.platform === 'linux' && process.arch === 'x64') return await packagedChromium();
  const executablePath = installed.find((path) => existsSync(path));
  return executablePath === undefined ? undefined : { executablePath, env: {} };
}

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** @param more further arguments */
export async function launchChromium({ executablePath, env }: ChromiumProgram, more: string[] = []): Promise<Browser> {
  return await chromium.launch({
    executablePath,
    env: { ...(process.env as Record<string, string>), ...env },
    // A container's root cannot use the sandbox, and its shared memory may be too small. Every page here is our own, so all tabs share
    // a process, and what it has compiled. Pages make much that is short-lived: with room for it they collect less garbage.
    args: [
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--font-render-hinting=none',
      '--process-per-site',
      '--js-flags=--min-semi-space-size=32 --max-semi-space-size=64 --single-threaded-gc',
      ...more,
    ],
  });
}

/** Unpacks the package once, which takes some 4 s. */
async function packagedChromium(): Promise<ChromiumProgram> {
  const folder = join(cache, `chromium-${packageVersion()}`);
  if (!existsSync(folder)) {
    mkdirSync(cache, { recursive: true });
    const temporary = mkdtempSync(join(cache, 'chromium-unpacking-'));
    await unpackInto(temporary);
    try {
      renameSync(temporary, folder);
    } catch {
      rmSync(temporary, { recursive: true, force: true }); // another process was faster
    }
  }
  const executablePath = join(folder, 'chromium');
  const fonts = { FONTCONFIG_FILE: fontsOf(folder) };
  const starts = spawnSync(executablePath, ['--version']).status === 0;
  return { executablePath, env: starts ? fonts : { ...fonts, LD_LIBRARY_PATH: join(folder, 'al2023/lib') } };
}

function packageVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const [folder = ''] = entry.split('/build/');
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The package unpacks into the folder for temporary files, and its libraries (nss) only for Lambda. */
async function unpackInto(folder: string): Promise<void> {
  const { TMPDIR, AWS_EXECUTION_ENV } = process.env;
  Object.assign(process.env, { TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' });
  try {
    await sparticuz.executablePath();
  } finally {
    restore({ TMPDIR, AWS_EXECUTION_ENV });
  }
}

function restore(variables: Record<string, string | undefined>): void {
  for (const [name, value] of Object.entries(variables)) {
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  }
}

/** Adds the package's font to those of the machine, which may have none. */
function fontsOf(folder: string): string {
  const file = join(folder, 'fonts.conf');
  if (existsSync(file)) return file;
  const content = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'fonts-cache')}</cachedir>
</fontconfig>
`;
  writeFileSync(file, content);
  return file;
}
