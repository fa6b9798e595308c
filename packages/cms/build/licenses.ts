import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the licenses of the packages that bundled files are of. @param files their paths from `root` */
export function licensesOf(root: string, files: readonly string[]): string {
  const folders = files.flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []);
  return [...new Set(folders)]
    .sort()
    .map((folder) => licenseOf(join(root, folder)))
    .join('\n');
}

/** A package without a file of its license has it in its README. */
function licenseOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name: string; version: string };
  const files = readdirSync(folder);
  const file = [/^(licen[cs]e|copying)/i, /^readme/i].map((pattern) => files.find((each) => pattern.test(each))).find(Boolean);
  if (file === undefined) throw new Error(`${name} has no license.`);
  return `${'='.repeat(80)}\n${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}
