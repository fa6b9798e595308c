import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** Modules of the SDK that Lambda never runs, with their replacements. */
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

/** Removes unreachable code from bundles that esbuild cannot recognize as unreachable. */
export const withoutTheUnreached: Plugin = {
  name: 'without-the-unreached',
  setup(build) {
    for (const { file, contents } of replacements) {
      build.onLoad({ filter: file }, ({ path }) => ({ contents: contents(path), loader: 'js' }));
    }
  },
};
