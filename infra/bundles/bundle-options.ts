import type { BuildOptions } from 'esbuild';
import { withoutTheUnreached } from './without-the-unreached.ts';
import { withoutWebSockets } from './without-web-sockets.ts';

/** The SDK imports these, when it needs them, for credentials from elsewhere than the environment, and for event streams. */
const neverReached = [
  ...['ini', 'sso', 'process', 'web-identity', 'http'].map((name) => `@aws-sdk/credential-provider-${name}`),
  '@smithy/credential-provider-imds',
  '@smithy/core/event-streams',
];

/** How a function is bundled. Source maps would cost 16 ms of each cold start; without `module` first the SDK fails to load. */
export const bundleOptions = {
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  mainFields: ['module', 'main'],
  external: neverReached,
  plugins: [withoutTheUnreached, withoutWebSockets],
  outExtension: { '.js': '.mjs' },
  legalComments: 'none',
  logLevel: 'warning',
} satisfies BuildOptions;
