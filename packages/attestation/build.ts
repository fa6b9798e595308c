import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const { scripts: _, ...description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, '../../node_modules/typescript/bin/tsc'), '-p', root], { stdio: 'inherit' });
cpSync(join(root, '../../LICENSE'), join(dist, 'LICENSE'));
cpSync(join(root, 'README.md'), join(dist, 'README.md'));
const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` });
const exports = { '.': entry('index'), './policy': entry('policy'), './package.json': './package.json' };
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...description, exports }, null, 2)}\n`);
