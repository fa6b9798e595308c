import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { stages } from './stages/stages.ts';
import {
  bundleCanary,
  canaryFolder,
  bundleFunctions,
  bundleLimitOf,
  bundlesFolder,
  bundleReference,
  referenceFolder,
  bundleGateway,
  gatewayFolder,
} from './bundles.ts';

/** The folder of the repository, in whose `dist/` the build writes. */
const root = join(import.meta.dirname, '..');

for (const folder of [bundlesFolder, gatewayFolder, canaryFolder, referenceFolder])
  rmSync(folder, { recursive: true, force: true });
const [{ bundles, metafile }, ...others] = await Promise.all([
  bundleFunctions(),
  bundleGateway(),
  bundleCanary(),
  bundleReference(),
]);
// The tarball of packages/stage has the licenses of what is in these bundles.
writeFileSync(join(root, 'dist/metafiles.json'), JSON.stringify([metafile, ...others.flat()]));
const tooLarge = bundles.filter(({ name, bytes }) => bytes > bundleLimitOf(name));
for (const { name, bytes } of tooLarge) {
  console.error(`${name} has ${(bytes / 1000).toFixed(1)} KB; a bundle has at most ${bundleLimitOf(name) / 1000} KB.`);
}
if (tooLarge.length > 0) process.exitCode = 1;
if (stages.some((stage) => stage.console) || process.argv.includes('--console')) {
  const outDir = join(root, 'dist/console');
  await build({ root: join(root, 'packages/console'), logLevel: 'warn', build: { outDir, emptyOutDir: true } });
}
