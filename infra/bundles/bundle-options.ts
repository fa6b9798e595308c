import type { BuildOptions } from 'esbuild';
import { replacedModules } from './replaced-modules.ts';

/** The SDK imports these modules on demand, for credentials that are not in the environment. */
const neverLoaded = [
  ...['ini', 'sso', 'process', 'web-identity', 'http'].map((name) => `@aws-sdk/credential-provider-${name}`),
  '@smithy/credential-provider-imds',
];

/** esbuild's options for a function. Source maps would add 16 ms to a cold start. The SDK only loads with `module` first. */
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
