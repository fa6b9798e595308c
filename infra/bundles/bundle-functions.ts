import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions } from './bundle-options.ts';
import { functionNames } from './function-names.ts';

const root = join(import.meta.dirname, '../..');

/** Where `npm run build` leaves a folder for each function, with its code as `index.mjs`. */
export const bundlesFolder = join(root, 'dist/functions');

/** A cold start reads the whole bundle; beyond this it is noticed. */
export const bundleLimitInBytes = 250_000;

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
