import { rmSync } from 'node:fs';
import { build } from 'vite';
import { consoleFolder, consoleSources } from './console/console-folder.ts';
import { stages } from './stages/stages.ts';
import { bundleCanary, canaryFolder } from './bundles/bundle-canary.ts';
import { bundleFunctions, bundleLimitOf, bundlesFolder } from './bundles/bundle-functions.ts';
import { bundleGateway, gatewayFolder } from './bundles/bundle-gateway.ts';
import { bundleReference, referenceFolder } from './bundles/bundle-reference.ts';

for (const folder of [bundlesFolder, gatewayFolder, canaryFolder, referenceFolder])
  rmSync(folder, { recursive: true, force: true });
const [bundles] = await Promise.all([bundleFunctions(), bundleGateway(), bundleCanary(), bundleReference()]);
const tooLarge = bundles.filter(({ name, bytes }) => bytes > bundleLimitOf(name));
for (const { name, bytes } of tooLarge) {
  console.error(`${name} has ${(bytes / 1000).toFixed(1)} KB; a bundle has at most ${bundleLimitOf(name) / 1000} KB.`);
}
if (tooLarge.length > 0) process.exitCode = 1;
if (stages.some((stage) => stage.console) || process.argv.includes('--console')) {
  await build({ root: consoleSources, logLevel: 'warn', build: { outDir: consoleFolder, emptyOutDir: true } });
}
