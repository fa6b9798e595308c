import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/console');

/** The folders of packages from which the console is built: its own sources, and those that it imports. */
const packages = ['console', 'client', 'formats', 'words', 'attestation', 'verify', 'transparency-log'].map(
  (name) => `packages/${name}`,
);
const sourceFolders = [...packages, 'shared', 'docs'];
const sourceNames = /\.(tsx?|css|html|svg|json|md)$/;
const neverSources = ['node_modules', 'dist'];

export type ConsoleFiles =
  | { state: 'building' }
  | { state: 'ready'; folder: string }
  /** The build of the console has failed. The message is the end of the build's output. */
  | { state: 'failed'; message: string };

export interface ConsoleBuild {
  files: () => ConsoleFiles;
  /** Resolves when the build of the console has ended, also if the build failed. */
  done: Promise<void>;
  /** Stops the build of the console, and waits until its process has ended. */
  stop: () => Promise<void>;
}

/**
 * The mode in which the console is built. `development` adds the checks of React, which print warnings to the browser's console,
 * and keeps scripts readable.
 */
export type ConsoleMode = 'production' | 'development';

interface BuildOptions {
  mode?: ConsoleMode;
  /**
   * True if somebody waits for the build. Otherwise the build has a low priority and yields to the service, which starts at the
   * same time. Default: false.
   */
  isUrgent?: boolean;
}

/**
 * Builds the console in a process of its own, at low priority unless the build is urgent. Does nothing if the same sources were
 * built before, or in a package of npm, which contains the built console.
 */
export function buildConsole({ mode = 'production', isUrgent = false }: BuildOptions = {}): ConsoleBuild {
  const packed = join(import.meta.dirname, 'console');
  const folder = existsSync(packed) ? packed : join(cache, `${mode}-${fingerprint()}`);
  if (existsSync(join(folder, 'index.html'))) {
    return { files: () => ({ state: 'ready', folder }), done: Promise.resolve(), stop: async () => undefined };
  }
  let files: ConsoleFiles = { state: 'building' };
  mkdirSync(cache, { recursive: true });
  const temporary = mkdtempSync(join(cache, 'building-'));
  const building = runVite(temporary, mode);
  const { child: vite } = building;
  if (!isUrgent && vite.pid !== undefined) setPriority(vite.pid, constants.priority.PRIORITY_LOW);
  let isStopping = false;
  const ended = building.then(
    () => void (files = { state: 'ready', folder: keep(temporary, folder) }),
    (error: unknown) => {
      const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
      rmSync(temporary, { recursive: true, force: true });
      if (!isStopping) files = { state: 'failed', message: (stdout + stderr || message).slice(-1_000) };
    },
  );
  return {
    files: () => files,
    done: ended,
    stop: async () => {
      isStopping = true;
      vite.kill('SIGKILL');
      await ended;
    },
  };
}

/**
 * Returns a hash of the files that the console is built from: its sources, and the lock file with the versions of packages. Takes
 * some 30 ms.
 */
function fingerprint(): string {
  const hash = createHash('sha256');
  for (const file of ['package-lock.json', ...sourceFolders.flatMap(sourcesIn)].sort()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return neverSources.includes(entry.name) ? [] : sourcesIn(path);
    return sourceNames.test(entry.name) ? [path] : [];
  });
}

function runVite(outDir: string, mode: ConsoleMode) {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
  const options = ['--mode', mode, '--outDir', outDir, '--emptyOutDir', '--logLevel', 'warn'];
  const readable = mode === 'development' ? ['--minify', 'false'] : [];
  const env = { ...process.env, NODE_ENV: mode }; // React's checks follow it
  return run(process.execPath, [vite, 'build', 'packages/console', ...options, ...readable], { cwd: root, env });
}

/**
 * Moves the files of a finished build to their folder, unless another service on this machine was faster. Removes builds that are
 * older than a week. @returns the folder
 */
function keep(temporary: string, folder: string): string {
  try {
    renameSync(temporary, folder);
  } catch {
    rmSync(temporary, { recursive: true, force: true });
  }
  for (const name of readdirSync(cache)) {
    const other = join(cache, name);
    if (Date.now() - statSync(other).mtimeMs > aWeekInMilliseconds) rmSync(other, { recursive: true, force: true });
  }
  return folder;
}

const aWeekInMilliseconds = 7 * 24 * 60 * 60 * 1_000;
