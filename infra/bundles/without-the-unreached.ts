import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** Modules of the SDK that Lambda never runs, and what stands in for each. */
const standIns: { file: RegExp; contents: (path: string) => string }[] = [
  // Of its own description a client reads the version, for the user agent.
  {
    file: /@aws-sdk\/client-[a-z]+\/package\.json$/,
    contents: (path) => `export default { version: ${JSON.stringify(versionIn(path))} };`,
  },
  // Filled by endpoint discovery, which is off unless a client asks for it.
  { file: /@aws-sdk\/endpoint-cache\/dist-es\/EndpointCache\.js$/, contents: () => 'export class EndpointCache {}' },
  // Taken where the runtime has no cryptography of its own.
  { file: /@smithy\/core\/dist-es\/submodules\/checksum\/sha256\/Sha256Js\.js$/, contents: () => 'export class Sha256Js {}' },
  // Made for the adaptive retry mode, which a client would have to ask for.
  { file: /@smithy\/core\/dist-es\/.*\/DefaultRateLimiter\.js$/, contents: () => 'export class DefaultRateLimiter {}' },
  // Asked on a virtual machine that does not know its region.
  {
    file: /@smithy\/core\/dist-es\/submodules\/config\/.*\/getInstanceMetadataRegion\.js$/,
    contents: () => 'export const getInstanceMetadataRegion = () => undefined;',
  },
];

function versionIn(path: string): string {
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/** Leaves out of a bundle what cannot be reached in it, and esbuild cannot know. */
export const withoutTheUnreached: Plugin = {
  name: 'without-the-unreached',
  setup(build) {
    for (const { file, contents } of standIns) {
      build.onLoad({ filter: file }, ({ path }) => ({ contents: contents(path), loader: 'js' }));
    }
  },
};
