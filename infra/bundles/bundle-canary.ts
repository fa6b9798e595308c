import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';

const root = join(import.meta.dirname, '../..');

/** `npm run build` writes the function of the canary here. */
export const canaryFolder = join(root, 'dist/canary');

/** Bundles the canary: the typed client, the simulated CVM, and what signs in. */
export async function bundleCanary(outdir = canaryFolder): Promise<void> {
  await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: [{ in: 'functions/operations/canary/canary-handler.ts', out: 'index' }],
    outdir,
  });
}
