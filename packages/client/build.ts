import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = import.meta.dirname;
const dist = join(root, 'dist');
const { scripts: _, ...description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;

rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [join(root, '../../node_modules/typescript/bin/tsc'), '-p', root], { stdio: 'inherit' });
for (const [file, place] of [
  ['../../LICENSE', 'LICENSE'],
  ['README.md', 'README.md'],
] as const) {
  cpSync(join(root, file), join(dist, place));
}
writeFileSync(join(dist, 'client.md'), packagedGuide(readFileSync(join(root, '../../docs/client.md'), 'utf8')));
const exported = (entry: string) => ({ types: `./${entry}.d.ts`, default: `./${entry}.js` });
const exports = { '.': exported('index'), './node': exported('node/index'), './package.json': './package.json' };
writeFileSync(join(dist, 'package.json'), `${JSON.stringify({ ...description, exports }, null, 2)}\n`);

/** Leaves out links to this repository, and what is only about it. */
function packagedGuide(page: string): string {
  const [guide = ''] = page.split('\n## In this repository');
  return guide.replaceAll(/\[([^\]]+)\]\((?!https?:|#)[^)]*\)/g, '$1');
}
