import { readFileSync } from 'node:fs';
import type { BuildOptions, Plugin } from 'esbuild';

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
export function demandReplacements(inputs: string[]): void {
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

/**
 * The options of esbuild for a function. Source maps would add 16 ms to a cold start. The SDK of AWS only loads if `module` comes
 * first in `mainFields`.
 */
export const bundleOptions = {
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
