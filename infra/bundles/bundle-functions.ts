import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';
import { functionNames } from './function-names.ts';

const root = join(import.meta.dirname, '../..');

/** `npm run build` writes a folder for each function here, with its code in `index.mjs`. */
export const bundlesFolder = join(root, 'dist/functions');

/**
 * Every 100 KB more add about 7 ms to a cold start. The limit leaves room for functions to grow, but not for another client or
 * parser in addition to the table's client (docs/adr/0005-bundles.md).
 */
export const bundleLimitInBytes = 320_000;

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
