import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * Builds what is published in `dist`: the infrastructure as one file with its declarations, and what `npm run build` writes, at the places
 * that they have in the repository.
 */
const root = import.meta.dirname;
const repository = join(root, '../..');
const dist = join(root, 'dist');
const { scripts: _, ...description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(repository, 'infra/build.ts'), '--console'], { stdio: 'inherit' });
const folders = ['functions', 'gateway', 'canary', 'reference', 'console'];
for (const name of folders) cpSync(join(repository, 'dist', name), join(dist, 'dist', name), { recursive: true });
await build({
  absWorkingDir: root,
  entryPoints: ['index.ts'],
  outfile: join(dist, 'infra/index.js'),
  bundle: true,
  platform: 'node',
  target: 'node22',
  format: 'esm',
  mainFields: ['module', 'main'], // fewer packages of CommonJS; these call `require`, which modules do not have
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  external: ['aws-cdk-lib', 'constructs'],
  logLevel: 'warning',
});
cpSync(join(repository, 'infra/console/viewer-request.js'), join(dist, 'infra/viewer-request.js'));
execFileSync(process.execPath, [join(repository, 'node_modules/typescript-7/bin/tsc'), '-p', root], { stdio: 'inherit' });
for (const [file, place] of [
  ['../../LICENSE', 'LICENSE'],
  ['README.md', 'README.md'],
  ['sample', 'sample'],
] as const) {
  cpSync(join(root, file), join(dist, place), { recursive: true });
}
const exports = {
  '.': { types: './types/packages/stage/index.d.ts', default: './infra/index.js' },
  './package.json': './package.json',
};
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...description, exports }, null, 2)}\n`);
