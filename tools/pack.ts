import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { licensesOf } from 'computation-management-console/licenses';
import { build, type Metafile } from 'esbuild';

/**
 * Prepares the package in the current folder for its tarball. `npm pack` starts it before and after.
 *
 * In the repository, `exports` and `bin` of package.json name TypeScript, which Node runs as it is. Below `node_modules` it does not, so
 * the tarball has the folder in `files`: a module of JavaScript for each of these files, with declarations. The modules contain what they
 * import of this repository, and of npm all but what `external` in package.json lists: by default `dependencies` and `peerDependencies`.
 *
 * npm packs package.json as it stands, so that of the tarball takes its place meanwhile. `--restore` puts the original back. A process that
 * waits for the end of npm does so too, in case npm is killed.
 *
 * Arguments: files and folders to copy to `dist`, or `--restore` with the process to wait for, if any. `--metafiles` names a file with the
 * lists of esbuild of what is in these folders.
 */
const repository = join(import.meta.dirname, '..');
const root = process.cwd();
const packageFile = join(root, 'package.json');
const originalFile = `${packageFile}.orig`;

interface Manifest {
  name: string;
  version: string;
  exports?: Record<string, string>;
  bin?: Record<string, string>;
  files: [folder: string, ...others: string[]];
  external?: string[];
  workspaces?: string[];
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** The fields of package.json that only work in the repository needs, and which the tarball leaves out. */
const ofRepository = [
  'private',
  'scripts',
  'workspaces',
  'external',
  'devDependencies',
  'overrides',
  'allowScripts',
  'scarfSettings',
];

/** A line of code that defines `require`, which packages of CommonJS call for the modules of Node. */
const requireOfNode = "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";

/** Matches the names of modules that declarations import. */
const moduleNames = /(?<=^(?! *\*).*\b(?:from |import\()['"])[^'"]+(?=['"])/gm;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { restore: { type: 'boolean', default: false }, metafiles: { type: 'string' } },
});
if (values.restore) await endOf(Number(positionals[0]));
if (existsSync(originalFile)) renameSync(originalFile, packageFile);
if (!values.restore) await prepare(positionals, values.metafiles);

/** Waits until the process with an identifier has ended. Returns at once for NaN. */
async function endOf(id: number): Promise<void> {
  try {
    for (;;) {
      process.kill(id, 0);
      await setTimeout(50);
    }
  } catch {
    // There is no such process any more.
  }
}

async function prepare(copied: readonly string[], metafiles?: string): Promise<void> {
  const manifest = readManifest(root);
  const { exports = {}, bin = {}, dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = manifest;
  const { external = Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !sourcesByName().has(name)) } =
    manifest;
  const [folder] = manifest.files;
  const dist = join(root, folder);
  rmSync(dist, { recursive: true, force: true });
  const entries = Object.values({ ...exports, ...bin }).filter(isSource);
  const bundled = metafiles === undefined ? [] : (JSON.parse(readFileSync(metafiles, 'utf8')) as Metafile[]).flatMap(filesIn);
  const built = await writeModules(dist, { entries, external });
  const licenses = licensesOf([
    ...bundled.map((file) => join(repository, file)),
    ...[...built, ...copied].map((file) => join(root, file)),
  ]);
  if (licenses !== '') write(join(dist, 'licenses.txt'), licenses);
  const exported = Object.values(exports).filter(isSource);
  if (manifest.workspaces === undefined) writeDeclarations(dist, { entries, exported, external });
  for (const file of [join(repository, 'LICENSE'), ...copied]) cpSync(file, join(dist, basename(file)), { recursive: true });

  const moduleOf = (file: string) => `./${folder}/${relative(root, join(root, file)).replace(/\.ts$/, '.js')}`;
  const declared = (file: string) => ({ types: `./${folder}/${placeOf(join(root, file))}`, default: moduleOf(file) });
  const installed = (of: Record<string, string>) => pick(of, (name) => external.includes(name));
  const packed = {
    ...pick(manifest, (name) => !ofRepository.includes(name)),
    exports: mapValues(exports, (file) => (isSource(file) ? declared(file) : file)),
    bin: mapValues(bin, moduleOf),
    dependencies: installed(dependencies),
    optionalDependencies: installed(optionalDependencies),
  };
  spawn(process.execPath, [import.meta.filename, '--restore', String(process.ppid)], { detached: true, stdio: 'ignore' }).unref();
  cpSync(packageFile, originalFile);
  write(join(dist, 'package.json'), `${JSON.stringify(packed, null, 2)}\n`);
  renameSync(join(dist, 'package.json'), packageFile);
}

/** Writes a module for each entry. Returns the files that the modules contain, relative to the packed folder. */
async function writeModules(dist: string, { entries, external }: Record<'entries' | 'external', string[]>): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: entries,
    external,
    outdir: dist,
    outbase: root,
    bundle: true,
    splitting: true,
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20',
    format: 'esm',
    keepNames: true, // errors and logs name the SDK's commands
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  for (const { path, text } of outputFiles)
    write(path, text.includes('typeof require ') ? text.replace(/^(#!.*\n)?/, `$1${requireOfNode}\n`) : text);
  return filesIn(metafile);
}

/** Returns the files whose code is in the modules of a build, as the list of esbuild names them. */
function filesIn({ outputs }: Metafile): string[] {
  const inputs = Object.values(outputs).flatMap((output) => Object.entries(output.inputs));
  return inputs.flatMap(([file, { bytesInOutput }]) => (bytesInOutput > 0 ? [file] : []));
}

/**
 * Checks the types of the entries, and writes the declarations of the exported ones, with all declarations in this repository
 * that they refer to.
 * @throws Error if the types are wrong, or the declarations refer to a package that is not installed with the packed one
 */
function writeDeclarations(
  dist: string,
  { entries, exported, external }: Record<'entries' | 'exported' | 'external', string[]>,
): void {
  const folder = join(dist, 'declared');
  const project = join(dist, 'tsconfig.json');
  const sources = sourcesByName();
  const compilerOptions = {
    rootDir: repository,
    outDir: folder,
    noEmit: false,
    declaration: true,
    emitDeclarationOnly: true,
    stripInternal: true,
    target: 'ES2022',
    lib: ['ES2023', 'ES2024.String', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'], // what Node 20 has
    paths: Object.fromEntries([...sources].map(([name, source]) => [name, [source]])), // else it takes them for installed packages
  };
  const files = entries.map((file) => join(root, file));
  write(project, JSON.stringify({ extends: join(repository, 'tsconfig.json'), compilerOptions, files, include: [] }));
  const compiler = join(repository, 'node_modules/typescript-7/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', project, '--checkers', '1'], { cwd: root, encoding: 'utf8' });
  const faults = stdout.split('\n').filter((line) => /^(?!\.\.\/\.\.\/)\S/.test(line)); // other code than that of packages/ runs on Node 24
  if (faults.length > 0) throw new Error(faults.join('\n'));
  const places = new Set(exported.map((file) => placeOf(join(root, file))));
  for (const place of places) {
    const nameFromHere = (name: string) => {
      const source = name.startsWith('.') ? join(repository, dirname(place), name) : sources.get(name);
      if (source !== undefined) {
        places.add(placeOf(source));
        return relative(dirname(place), placeOf(source))
          .replace(/^(?!\.)/, './')
          .replace(/\.d\.ts$/, '.js');
      }
      if (['node:', ...external].some((each) => name.startsWith(each))) return name;
      throw new Error(`${place} refers to ${name}, which is not installed with the package.`);
    };
    write(join(dist, place), readFileSync(join(folder, place), 'utf8').replaceAll(moduleNames, nameFromHere));
  }
  rmSync(folder, { recursive: true });
  rmSync(project);
}

/** Returns the paths of the sources that the packages of this repository export, by the names that import them. */
function sourcesByName(): Map<string, string> {
  const folders = globSync('packages/*/package.json', { cwd: repository }).map((file) => join(repository, dirname(file)));
  const entriesOf = (folder: string) => {
    const { name, exports = {} } = readManifest(folder);
    return Object.entries(exports).map(([entry, file]) => [name + entry.slice(1), join(folder, file)] as const);
  };
  return new Map(folders.flatMap(entriesOf));
}

/**
 * Returns the path of a source's declarations, relative to the packed folder: the same as the path of the source in the
 * repository.
 */
function placeOf(source: string): string {
  return relative(repository, source).replace(/\.ts$/, '.d.ts');
}

function write(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

function isSource(file: string): boolean {
  return file.endsWith('.ts');
}

function pick<T extends object>(record: T, takes: (name: string) => boolean): Partial<T> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => takes(name))) as Partial<T>;
}

function mapValues<T>(record: Record<string, string>, map: (value: string) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}
