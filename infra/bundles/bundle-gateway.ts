import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { certificateFunctionFolder, startFile } from '../gateway/gateway-task.ts';
import { bundleOptions } from './bundle-options.ts';

const root = join(import.meta.dirname, '../..');

/** The folder to which `npm run build` writes the gateway for CVMs and the function that issues the gateway's certificate. */
export const gatewayFolder = join(root, 'dist/gateway');

/**
 * The first line of the gateway's bundle, which defines `require`: packages of CommonJS call `require` for Node's modules, but ES
 * modules have none.
 */
const banner = { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" };

/**
 * Bundles the gateway for CVMs, the function that issues the gateway's certificate, and the code that starts the gateway in a
 * container. Returns the lists of esbuild of what is in each.
 */
export async function bundleGateway(outdir = gatewayFolder): Promise<Metafile[]> {
  const listed = { absWorkingDir: root, metafile: true } as const;
  const options = { ...bundleOptions, ...listed, outdir, banner };
  const results = await Promise.all([
    build({
      ...options,
      external: [], // unlike functions, tasks get their credentials from the last of the SDK's providers, which loads them all
      plugins: [], // they make cold starts of functions shorter
      minify: false, // Node prints the line of code that a process ended at
      entryPoints: [{ in: 'gateway/main.ts', out: 'index' }],
    }),
    build({
      ...options,
      entryPoints: [{ in: 'gateway/certificates/issue-certificate.ts', out: `${certificateFunctionFolder}/index` }],
    }),
    build({
      ...listed,
      entryPoints: [join(root, 'gateway/start-bundle.ts')],
      outfile: join(outdir, startFile),
      format: 'esm',
      minify: true,
      supported: { 'template-literal': false }, // CloudFormation takes their dollars for references
    }),
  ]);
  copyFileSync(join(root, 'gateway/wire/cvms.proto'), join(outdir, 'cvms.proto'));
  return results.map(({ metafile }) => metafile);
}
