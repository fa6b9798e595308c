import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceVersion } from '../shared/runtime/service-version.ts';
import { checkPackages, pack, packAdvice, packageNames, step } from '../test/packages/check-packages.ts';
import { linesWithoutCheckout, tryService } from '../test/support/packed-service.ts';

/**
 * Makes the release in `dist/release` (`npm run release`): the tarballs of the service and of the packages, a list of the
 * contents of each (CycloneDX), and the checksums of all. Then tries each tarball in an empty folder, with each supported version
 * of Node.
 */
const repository = join(import.meta.dirname, '..');
const release = join(repository, 'dist/release');
const run = promisify(execFile);
const temporary = mkdtempSync(join(tmpdir(), 'release-'));

interface Locked {
  version: string;
  integrity: string;
  license: string;
  dependencies?: Record<string, string>;
}

interface Manifest extends Omit<Locked, 'integrity'> {
  optionalDependencies?: Record<string, string>;
}

/** The entries of package-lock.json: the packages of npm that are installed in this repository, by their folders. */
const locked = (JSON.parse(readFileSync(join(repository, 'package-lock.json'), 'utf8')) as { packages: Record<string, Locked> })
  .packages;

process.on('exit', () => rmSync(temporary, { recursive: true, force: true }));
rmSync(release, { recursive: true, force: true });
mkdirSync(release, { recursive: true });
for (const name of ['service', ...packageNames]) {
  await step(`Pack ${name}`, packAdvice, async () => {
    await pack(name, release);
    await writeContents(name);
  });
}
const { stdout: sums } = await run('sha256sum', readdirSync(release), { cwd: release });
writeFileSync(join(release, 'SHA256SUMS'), sums);
await checkPackages(new Map(packageNames.map((name) => [name, tarballOf(name)])), async (version, node) => {
  const env = { PATH: `${node}:${process.env['PATH']}`, npm_config_cache: join(temporary, 'npm') };
  await step(`Start the service with Node ${version}`, 'Start its tarball as the README says.', async () => {
    const folder = mkdtempSync(join(temporary, 'service-'));
    cpSync(tarballOf('service'), join(folder, tarballOf('service').slice(release.length)));
    const { version: shown } = await tryService(linesWithoutCheckout().start, { folder, env });
    if (shown !== serviceVersion()) throw new Error(`/health says the version ${String(shown)}.`);
  });
});
process.stdout.write(`\nThe release is in ${release}.\n`);

function tarballOf(name: string): string {
  return join(release, `computation-management-${name}-${serviceVersion()}.tgz`);
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
