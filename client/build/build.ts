import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { licensesOf } from './licenses.ts';

/**
 * Builds the package's `dist`: JavaScript with declarations for the two entries, the command line in one file with the packages that it
 * alone needs, and the guide.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object };

/** Packages of CommonJS call `require` for Node's modules, which modules do not have. */
const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, '../node_modules/typescript/bin/tsc'), '-p', root], { stdio: 'inherit' });
cpSync(join(root, '../LICENSE'), join(dist, 'LICENSE'));
writeFileSync(join(dist, 'client.md'), packagedGuide(readFileSync(join(root, '../docs/client.md'), 'utf8')));
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['cms/cms.ts'],
  outfile: join(dist, 'cms.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner,
  external: Object.keys(dependencies),
  metafile: true,
  logLevel: 'warning',
});
writeFileSync(join(dist, 'cms-licenses.txt'), licensesOf(root, Object.keys(metafile.inputs)));

/** Returns docs/client.md for readers who have the package alone: without links to this repository, and what is only about it. */
function packagedGuide(page: string): string {
  const [guide = ''] = page.split('\n## In this repository');
  return guide.replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1');
}
