import { readFileSync, writeFileSync, copyFileSync } from 'node:fs';
import { type BuildOptions, type Plugin, build, type Metafile } from 'esbuild';
import { join, relative, basename } from 'node:path';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { routes } from '../shared/endpoints/endpoints.ts';
import { tasks } from '../shared/tasks/tasks.ts';
import type { Uses } from '../shared/runtime/uses.ts';
import { functionNames } from './service/service-function.ts';
import { contentTypeOf } from '../shared/http/page-headers.ts';
import { listOfFiles, type BuiltFile } from '../functions/reference/built-reference.ts';
import { referenceFiles } from '../functions/reference/reference-files.ts';
import { certificateFunctionFolder, startFile } from './gateway/gateway-task.ts';

/**
 * Modules of the SDK of AWS that bundles replace by a few lines, because Lambda never runs them. esbuild cannot see that they are
 * unreachable.
 */
const replacements: { file: RegExp; contents: (path: string) => string }[] = [
  // A client only reads its version, for the user agent.
  {
    file: /@aws-sdk\/client-[a-z0-9]+\/package\.json$/,
    contents: (path) => `export default { version: ${JSON.stringify(versionIn(path))} };`,
  },
  // Used only by endpoint discovery, which is off by default.
  { file: /@aws-sdk\/endpoint-cache\/dist-es\/EndpointCache\.js$/, contents: () => 'export class EndpointCache {}' },
  // Used only if the runtime has no cryptography.
  { file: /@smithy\/core\/dist-es\/submodules\/checksum\/sha256\/Sha256Js\.js$/, contents: () => 'export class Sha256Js {}' },
  // Used only by the adaptive retry mode, which is off by default.
  { file: /@smithy\/core\/dist-es\/.*\/DefaultRateLimiter\.js$/, contents: () => 'export class DefaultRateLimiter {}' },
  {
    file: /@smithy\/core\/dist-es\/submodules\/retry\/util-retry\/AdaptiveRetryStrategy\.js$/,
    contents: () => 'export class AdaptiveRetryStrategy {}',
  },
  // Used only by commands whose answers are event streams.
  {
    file: /@smithy\/core\/dist-es\/submodules\/event-streams\/index\.js$/,
    contents: () =>
      'export const eventStreamSerdeProvider = () => undefined, resolveEventStreamSerdeConfig = (config) => config;',
  },
  // Used only on virtual machines without a configured region.
  {
    file: /@smithy\/core\/dist-es\/submodules\/config\/.*\/getInstanceMetadataRegion\.js$/,
    contents: () => 'export const getInstanceMetadataRegion = () => undefined;',
  },
];

function versionIn(path: string): string {
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

const webSockets = 'without-web-sockets';

/**
 * A plugin of esbuild that replaces modules that functions do not need. `import { STATUS_CODES } from 'node:http'` in middy would
 * load Node's WebSocket and all of undici: 30 ms of a cold start.
 */
const replacedModules: Plugin = {
  name: 'replaced-modules',
  setup(build) {
    for (const { file, contents } of replacements) {
      build.onLoad({ filter: file }, ({ path }) => ({ contents: contents(path), loader: 'js' }));
    }
    build.onResolve({ filter: /^node:http$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: webSockets } : { path, external: true },
    );
    build.onLoad({ filter: /.*/, namespace: webSockets }, () => ({
      contents: `export const { STATUS_CODES } = process.getBuiltinModule('node:http');`,
    }));
  },
};

/**
 * Checks that a build has replaced every module of `replacements`. @param inputs the files that the build has read @throws Error
 * if a module was not among the files, because the SDK of AWS has moved it
 */
function demandReplacements(inputs: string[]): void {
  const missed = replacements.filter(({ file }) => !inputs.some((input) => file.test(input)));
  if (missed.length === 0) return;
  throw new Error(`The SDK has no such modules any more: ${missed.map(({ file }) => file.source).join(', ')}`);
}

/**
 * The modules of the SDK of AWS that bundles leave out. The SDK imports them on demand, for credentials that are not in the
 * environment.
 */
const neverLoaded = [
  ...['ini', 'sso', 'process', 'web-identity', 'http'].map((name) => `@aws-sdk/credential-provider-${name}`),
  '@smithy/credential-provider-imds',
];

const root = join(import.meta.dirname, '..');

/** The options of esbuild with which a build returns the list of what is in the bundle. */
const listed = { absWorkingDir: root, metafile: true } as const;

/**
 * The options of esbuild for a function. Source maps would add 16 ms to a cold start. The SDK of AWS only loads if `module` comes
 * first in `mainFields`.
 */
const bundleOptions = {
  ...listed,
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  external: neverLoaded,
  plugins: [replacedModules],
  outExtension: { '.js': '.mjs' },
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions;

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
/**
 * The limit of functions that read or write the stage's log: they have the clients of S3 and of KMS, which has the key of the log. The one that
 * follows the table also notes what mail is to tell of.
 */
const limitWithLogInBytes = 518_000;
const limitWithVerifierInBytes = 620_000;

/**
 * The functions that verify attestation: the task, those that judge kept tokens again before a run starts, and the one to which
 * guests send evidence for a key.
 */
export const functionsThatVerify = ['attestation/verify-token', 'releases/attest', 'runs/dry-run', 'runs/start-run'];

const usesOf = new Map<string, Uses>([...routes, ...tasks].map(({ name, uses }) => [name, uses]));

export function bundleLimitOf(name: string): number {
  const { content, log } = usesOf.get(name) ?? {};
  if (functionsThatVerify.includes(name)) return limitWithVerifierInBytes;
  if (log) return limitWithLogInBytes;
  return content ? limitWithStorageInBytes : limitInBytes;
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
    entryPoints: functionNames.map((name) => ({ in: `functions/${name}.ts`, out: `${name}/index` })),
    outdir,
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
  return (await build({ ...bundleOptions, entryPoints: [{ in: handler, out: 'index' }], outdir })).metafile;
}

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
  const options = { ...bundleOptions, outdir, banner };
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
