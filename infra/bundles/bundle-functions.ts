import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import type { Uses } from '../../shared/runtime/uses.ts';
import { bundleOptions } from './bundle-options.ts';
import { functionNames } from './function-names.ts';
import { demandReplacements } from './replaced-modules.ts';

const root = join(import.meta.dirname, '../..');

/** `npm run build` writes a folder for each function here, with its code in `index.mjs`. */
export const bundlesFolder = join(root, 'dist/functions');

/**
 * Every 100 KB more add about 7 ms to a cold start. The limits leave no room for another client or parser
 * (docs/adr/0005-bundles.md).
 */
const limitInBytes = 350_000;
const limitWithStorageInBytes = 470_000;
const limitWithVerifierInBytes = 510_000;

const withStorage = new Set<string>(
  ([...routes, ...tasks] as readonly { name: string; uses: Uses }[]).flatMap(({ name, uses }) => (uses.content ? name : [])),
);

export function bundleLimitOf(name: string): number {
  if (name === 'attestation/verify-token') return limitWithVerifierInBytes;
  return withStorage.has(name) ? limitWithStorageInBytes : limitInBytes;
}

export interface Bundle {
  name: string;
  bytes: number;
}

/** Bundles every function in one build. @throws Error if the SDK has moved a module that bundles leave out */
export async function bundleFunctions(outdir = bundlesFolder): Promise<Bundle[]> {
  const { metafile } = await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
    metafile: true,
  });
  demandReplacements(Object.keys(metafile.inputs));
  return Object.entries(metafile.outputs).map(([file, { bytes }]) => ({
    name: relative(outdir, join(root, file)).replace('/index.mjs', ''),
    bytes,
  }));
}
