import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const repository = join(import.meta.dirname, '../..');
const parts = ['packages', 'tools/pack.ts', 'package.json', 'tsconfig.json', '.npmrc', 'LICENSE'];
const isOwn = (name: string) => name.startsWith('computation-management-');

/**
 * Copies what `npm pack -w packages/...` needs to a folder of its own: npm packs package.json as it stands, so it is another one meanwhile,
 * and tests that run at the same time must not see it.
 * @param more other files and folders to copy
 */
export function copyCheckout(more: readonly string[] = []): string {
  const checkout = mkdtempSync(join(tmpdir(), 'checkout-'));
  const isSource = (path: string) => !['node_modules', 'dist'].includes(basename(path));
  for (const part of [...parts, ...more])
    cpSync(join(repository, part), join(checkout, part), { recursive: true, filter: isSource });
  mkdirSync(join(checkout, 'node_modules'));
  const link = (path: string, from = repository, as = path) => symlinkSync(join(from, path), join(checkout, as));
  for (const name of readdirSync(join(repository, 'node_modules')).filter((each) => !isOwn(each))) link(`node_modules/${name}`);
  for (const folder of readdirSync(join(checkout, 'packages')).map((name) => `packages/${name}`)) {
    link(folder, checkout, `node_modules/computation-management-${basename(folder)}`);
    if (existsSync(join(repository, folder, 'node_modules'))) link(`${folder}/node_modules`);
  }
  return checkout;
}
