import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';
import { functionNames } from './function-names.ts';

const root = join(import.meta.dirname, '../..');

/** Where `npm run build` leaves a folder for each function, with its code as `index.mjs`. */
export const bundlesFolder = join(root, 'dist/functions');

/**
 * Loading 100 KB more takes a cold start some 7 ms more. The limit leaves room for a function to grow, and none for another
 * client or parser beside the table's client (docs/adr/0005-bundles.md).
 */
export const bundleLimitInBytes = 300_000;

export interface Bundle {
  name: string;
  bytes: number;
}

/** Bundles every function in one build. */
export async function bundleFunctions(outdir = bundlesFolder): Promise<Bundle[]> {
  const { metafile } = await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
    metafile: true,
  });
  return Object.entries(metafile.outputs).map(([file, { bytes }]) => ({
    name: relative(outdir, join(root, file)).replace('/index.mjs', ''),
    bytes,
  }));
}
