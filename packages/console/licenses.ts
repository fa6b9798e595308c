import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The pattern of the files of a package with its license, its notices, and the licenses of what it contains itself. */
const legalFile = /^(?!.*\.(json|[cm]?[jt]sx?|map)$)(.*[-.])?(licen[cs]es?|copying|notices?)\b/i;

/**
 * Returns the licenses and notices of the packages of npm that some files belong to, one package after the other. Files that are in
 * no package of npm are left out.
 * @param files absolute paths, of which a file may have several
 * @throws Error if a package has neither a license file nor a README, which then has the license
 */
export function licensesOf(files: Iterable<string>): string {
  const folders = Array.from(files, (file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? '');
  return [...new Set(folders)].filter(Boolean).sort().map(licenseOf).join('\n');
}

function licenseOf(folder: string): string {
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<'name' | 'version', string>;
  const files = readdirSync(folder);
  const found = [legalFile, /^readme/i]
    .map((pattern) => files.filter((each) => pattern.test(each)))
    .find(({ length }) => length > 0);
  if (found === undefined) throw new Error(`${name} has no license.`);
  const texts = new Set(found.map((file) => readFileSync(join(folder, file), 'utf8').trim()));
  return `${'='.repeat(80)}\n${name} ${version}\n\n${[...texts].join('\n\n')}\n`;
}
