import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { contentTypeOf } from '../../shared/http/content-type.ts';
import { listOfFiles, type BuiltFile } from '../../functions/reference/built-reference.ts';
import { referenceFiles } from '../../functions/reference/reference-files.ts';
import { bundleOptions } from './bundle-options.ts';

const root = join(import.meta.dirname, '../..');

/** `npm run build` writes the function of the API reference here, with the files that it serves. */
export const referenceFolder = join(root, 'dist/reference');

/** Bundles the function, and compresses its files. */
export async function bundleReference(outdir = referenceFolder): Promise<void> {
  await build({
    ...bundleOptions,
    absWorkingDir: root,
    entryPoints: [{ in: 'functions/reference/reference-handler.ts', out: 'index' }],
    outdir,
  });
  const files = Object.entries(referenceFiles()).map(([path, source]): BuiltFile => {
    const content = readFileSync(source);
    const name = `${basename(source)}.gz`;
    writeFileSync(join(outdir, name), gzipSync(content, { level: 9 }));
    const digest = createHash('sha256').update(content).digest('base64url');
    return { path, name, contentType: contentTypeOf(source), etag: `"${digest}"` };
  });
  writeFileSync(join(outdir, listOfFiles), JSON.stringify(files));
}
