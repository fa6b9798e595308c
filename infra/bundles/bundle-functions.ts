import { join, relative, basename } from 'node:path';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { build, type Metafile } from 'esbuild';
import { routes } from '../../shared/endpoints/endpoints.ts';
import { tasks } from '../../shared/tasks/tasks.ts';
import type { Uses } from '../../shared/runtime/uses.ts';
import { bundleOptions, demandReplacements } from './bundle-options.ts';
import { functionNames } from '../service/functions.ts';
import { contentTypeOf } from '../../shared/http/content-type.ts';
import { listOfFiles, type BuiltFile } from '../../functions/reference/built-reference.ts';
import { referenceFiles } from '../../functions/reference/reference-files.ts';

const root = join(import.meta.dirname, '../..');

/**
 * The folder to which `npm run build` writes a folder for each function of the service, with the function's code in `index.mjs`.
 */
export const bundlesFolder = join(root, 'dist/functions');

/**
 * The most bytes that the bundle of a function may have. Every 100 KB more add about 7 ms to a cold start. The limits leave no
 * room for another client or parser (docs/adr/0005-bundles.md).
 */
const limitInBytes = 350_000;
const limitWithStorageInBytes = 470_000;
const limitWithVerifierInBytes = 610_000;

/** The functions that verify attestation: the task, and those that judge kept tokens again before a run starts. */
export const functionsThatVerify = ['attestation/verify-token', 'runs/dry-run', 'runs/start-run'];

const withStorage = new Set<string>(
  ([...routes, ...tasks] as readonly { name: string; uses: Uses }[]).flatMap(({ name, uses }) => (uses.content ? name : [])),
);

export function bundleLimitOf(name: string): number {
  if (functionsThatVerify.includes(name)) return limitWithVerifierInBytes;
  return withStorage.has(name) ? limitWithStorageInBytes : limitInBytes;
}

export interface Bundle {
  name: string;
  bytes: number;
}

/**
 * Bundles every function of the route table and the task table with esbuild. Returns the name and size of each bundle, and the
 * list of esbuild of what is in them.
 * @throws Error if the SDK of AWS no longer has a module that bundles replace
 */
export async function bundleFunctions(outdir = bundlesFolder): Promise<{ bundles: Bundle[]; metafile: Metafile }> {
  const { metafile } = await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
    metafile: true,
  });
  demandReplacements(Object.keys(metafile.inputs));
  const bundles = Object.entries(metafile.outputs).map(([file, { bytes }]) => ({
    name: relative(outdir, join(root, file)).replace('/index.mjs', ''),
    bytes,
  }));
  return { bundles, metafile };
}

/** The folder to which `npm run build` writes the function of the canary. */
export const canaryFolder = join(root, 'dist/canary');

/**
 * Bundles the function of the canary: the typed client, the simulated CVM, and the code that signs in. Returns the list of esbuild
 * of what is in the bundle.
 */
export async function bundleCanary(outdir = canaryFolder): Promise<Metafile> {
  return await bundleOne('functions/operations/canary/canary-handler.ts', outdir);
}

/** The folder to which `npm run build` writes the function of the API reference, with the files that the function serves. */
export const referenceFolder = join(root, 'dist/reference');

/**
 * Bundles the function of the API reference, and compresses the files that the function serves. Returns the list of esbuild of
 * what is in the bundle, with these files.
 */
export async function bundleReference(outdir = referenceFolder): Promise<Metafile> {
  const { inputs, outputs } = await bundleOne('functions/reference/reference-handler.ts', outdir);
  const files = Object.entries(referenceFiles()).map(([path, source]): BuiltFile => {
    const content = readFileSync(source);
    const name = `${basename(source)}.gz`;
    writeFileSync(join(outdir, name), gzipSync(content, { level: 9 }));
    const bytes = content.length;
    outputs[name] = { bytes, inputs: { [relative(root, source)]: { bytesInOutput: bytes } }, imports: [], exports: [] };
    const digest = createHash('sha256').update(content).digest('base64url');
    return { path, name, contentType: contentTypeOf(source), etag: `"${digest}"` };
  });
  writeFileSync(join(outdir, listOfFiles), JSON.stringify(files));
  return { inputs, outputs };
}

/** Bundles the function of one file, as `index.mjs` in a folder: one that is neither in the route table nor in the task table. */
async function bundleOne(handler: string, outdir: string): Promise<Metafile> {
  const entryPoints = [{ in: handler, out: 'index' }];
  return (await build({ ...bundleOptions, absWorkingDir: root, entryPoints, outdir, metafile: true })).metafile;
}
