import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/** Builds the package's `dist`: JavaScript with declarations for the two entries, and the command line in one file. */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const commandLine = join(root, 'cms', 'cms.ts');

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, '../node_modules/typescript/bin/tsc'), '-p', root], { stdio: 'inherit' });
cpSync(join(root, '../LICENSE'), join(dist, 'LICENSE'));
if (existsSync(commandLine)) {
  await build({
    entryPoints: [commandLine],
    outfile: join(dist, 'cms.js'),
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    logLevel: 'warning',
  });
}
