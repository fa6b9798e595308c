import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { licensesOf } from './licenses.ts';

/** Builds what is published in `dist`: the command line in one file, which needs nothing but Node, and the licenses of what is in it. */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const {
  scripts: _,
  devDependencies: __,
  exports: ___,
  ...description
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;

/** Packages of CommonJS call `require` for Node's modules, which modules do not have. */
const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };

rmSync(dist, { recursive: true, force: true });
mkdirSync(join(dist, 'bin'), { recursive: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ['cms.ts'],
  outfile: join(dist, 'bin/cms.js'),
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  banner: { js: `#!/usr/bin/env node\n${banner.js}` },
  metafile: true,
  logLevel: 'warning',
});
writeFileSync(join(dist, 'licenses.txt'), licensesOf(root, Object.keys(metafile.inputs)));
cpSync(join(root, '../../LICENSE'), join(dist, 'LICENSE'));
cpSync(join(root, 'README.md'), join(dist, 'README.md'));
writeFileSync(join(dist, 'package.json'), `${JSON.stringify(description, null, 2)}\n`);
