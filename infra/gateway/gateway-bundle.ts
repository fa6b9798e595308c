import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Stack } from 'aws-cdk-lib';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { Construct } from 'constructs';
import { gatewayFiles, startFile } from './gateway-task.ts';

/**
 * The code of the gateway as files in the bucket of CDK's assets, and the command with which a container fetches and starts the
 * code.
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
