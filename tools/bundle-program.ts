import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { build } from 'esbuild';

/**
 * Builds what is published of a package that is a program, in its `dist`: one file, which needs nothing but Node, and the licenses of
 * what is in it. Run it in the folder of the package. Its argument is the program's source.
 */
const root = process.cwd();
const [source = ''] = process.argv.slice(2);
const dist = join(root, 'dist');
const program = `bin/${parse(source).name}.js`;
const {
  scripts: _,
  devDependencies: __,
  exports: ___,
  ...description
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown> & { name: string };

/** Packages of CommonJS call `require` for Node's modules, which modules do not have. */
const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, 'bin'), { recursive: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [source],
  outfile: join(dist, program),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: { js: `#!/usr/bin/env node\n${banner}` },
  metafile: true,
  logLevel: 'warning',
});
const folders = Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
writeFileSync(join(dist, 'licenses.txt'), [...new Set(folders)].sort().map(licenseOf).join('\n'));
cpSync(join(root, '../../LICENSE'), join(dist, 'LICENSE'));
cpSync(join(root, 'README.md'), join(dist, 'README.md'));
const published = { bin: { [description.name]: program }, ...description };
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);

/** Returns the license of the package in a folder. A package without a file of its license has it in its README. */
function licenseOf(folder: string): string {
  const path = join(root, folder);
  const { name, version } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as { name: string; version: string };
  const files = readdirSync(path);
  const file = [/^(licen[cs]e|copying)/i, /^readme/i].map((pattern) => files.find((each) => pattern.test(each))).find(Boolean);
  if (file === undefined) throw new Error(`${name} has no license.`);
  return `${'='.repeat(80)}\n${name} ${version}\n\n${readFileSync(join(path, file), 'utf8').trim()}\n`;
}
